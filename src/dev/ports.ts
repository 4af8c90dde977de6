import { once } from 'node:events';
import { createConnection, createServer, type AddressInfo } from 'node:net';

/**
 * Chooses a port for a server on the loopback address of this machine.
 *
 * @param fixed the port of the settings; 0: any port
 * @param previous the port that the server had before; it is kept if it is free, so that addresses stay the same
 */
export async function choosePort(fixed: number, previous: number | undefined): Promise<number> {
  if (fixed !== 0) return fixed;
  if (previous !== undefined && (await isFree(previous))) return previous;
  return bindOnce(0);
}

/** Whether a server could listen on this port now. */
async function isFree(port: number): Promise<boolean> {
  return bindOnce(port).then(
    () => true,
    () => false,
  );
}

/** Whether anything accepts connections on this port. */
export async function isListening(port: number): Promise<boolean> {
  const socket = createConnection({ port, host: '127.0.0.1' });
  const isConnected = await once(socket, 'connect').then(
    () => true,
    () => false,
  );
  socket.destroy();
  return isConnected;
}

async function bindOnce(port: number): Promise<number> {
  const server = createServer().listen({ port, host: '127.0.0.1', exclusive: true });
  await once(server, 'listening');
  const { port: bound } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return bound;
}
