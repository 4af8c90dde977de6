import { once } from 'node:events';
import { createServer } from 'node:net';

/** Finds a port of this machine on which no process listens. */
export async function freePort() {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address();
  server.close();
  await once(server, 'close');
  return port;
}
