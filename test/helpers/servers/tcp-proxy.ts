import { connect, createServer, type Socket } from 'node:net';
import { listenHere } from './ports.ts';

export interface TcpProxy {
  readonly port: number;
  /** Stops relaying on all current connections without closing them. Later connections work. */
  lose(): void;
  /** Stops relaying on all current and later connections without closing them. */
  freeze(): void;
  /** Refuses new connections and closes the open ones. */
  close(): Promise<void>;
  /** Closes the open connections, and relays later ones. */
  reopen(): Promise<void>;
}

/** Starts a TCP proxy in front of a port of this machine. @param at port of the proxy; 0: a free port */
export async function startTcpProxy(target: number, at = 0): Promise<TcpProxy> {
  const sockets = new Set<Socket>();
  let isFrozen = false;
  const server = createServer((client) => {
    const upstream = connect(target, '127.0.0.1');
    for (const [socket, other] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      sockets.add(socket);
      socket.on('error', () => {}).on('close', () => other.destroy());
      if (isFrozen) socket.resume();
      else socket.pipe(other);
    }
  });
  const port = await listenHere(server, at);
  const lose = (): void => {
    for (const socket of sockets) socket.unpipe().on('data', () => {});
  };
  const hangUp = (): void => {
    for (const socket of sockets) socket.destroy();
    sockets.clear();
  };
  return {
    port,
    lose,
    freeze: () => {
      isFrozen = true;
      lose();
    },
    close: async () => {
      const stopped = new Promise((resolve) => server.close(resolve));
      hangUp();
      await stopped;
    },
    reopen: async () => {
      isFrozen = false;
      hangUp();
      if (!server.listening) await listenHere(server, port);
    },
  };
}
