import { createServer, type AddressInfo, type Server } from 'node:net';
import { onTestFinished } from 'vitest';

/** Finds a port on which no process listens. */
export async function freePort(): Promise<number> {
  const server = createServer();
  const port = await listenHere(server);
  await close(server);
  return port;
}

/** Listens on a port until the test ends. */
export async function takenPort(): Promise<number> {
  const holder = createServer((socket) => socket.destroy());
  onTestFinished(() => close(holder));
  return listenHere(holder);
}

/** Lets a server listen on this machine. @returns the port of the server */
export async function listenHere(server: Server, port = 0): Promise<number> {
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject).listen(port, '127.0.0.1', resolve);
  });
  return (server.address() as AddressInfo).port;
}

async function close(server: Server): Promise<void> {
  await new Promise((resolve) => server.close(resolve));
}
