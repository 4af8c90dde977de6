import { connect, createServer, type Socket } from 'node:net';
import { listenHere } from './ports.ts';

export interface TcpProxy {
  readonly port: number;
  /** Loses all present connections without closing them: nothing is relayed any more. Later connections work. */
  lose(): void;
  close(): Promise<void>;
}

/** Starts a proxy in front of a port of this machine. @param at its own port; 0: a free one */
export async function startTcpProxy(target: number, at = 0): Promise<TcpProxy> {
  const sockets = new Set<Socket>();
  const server = createServer((client) => {
    const upstream = connect(target, '127.0.0.1');
    for (const [socket, other] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      sockets.add(socket);
      socket.on('error', () => socket.destroy());
      socket.pipe(other);
    }
  });
  const port = await listenHere(server, at);
  return {
    port,
    lose: () => {
      for (const socket of sockets) socket.unpipe().on('data', () => {});
    },
    close: async () => {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
