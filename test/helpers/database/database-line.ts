import { connect, createServer, type Socket } from 'node:net';
import { listenHere } from '../servers/ports.ts';

/** A TCP connection to a database that can be cut, and fixed again. */
export interface DatabaseLine {
  /** Leads through the line. */
  readonly databaseUrl: string;
  /** Refuses new connections and closes the open ones. */
  cut(): Promise<void>;
  /** Connections stay open, and no bytes pass. */
  freeze(): void;
  fix(): Promise<void>;
}

export async function openDatabaseLine(databaseUrl: string): Promise<DatabaseLine> {
  const target = new URL(databaseUrl);
  const sockets = new Set<Socket>();
  let frozen = false;
  const server = createServer((near) => {
    const far = connect(Number(target.port), target.hostname);
    join(near, far);
    join(far, near);
  });
  const join = (from: Socket, to: Socket): void => {
    sockets.add(from);
    from.on('data', (chunk) => frozen || to.write(chunk)).on('error', () => {});
    from.on('close', () => to.destroy());
  };
  const hangUp = (): void => {
    for (const socket of sockets) socket.destroy();
    sockets.clear();
  };
  const port = await listenHere(server);
  const url = new URL(databaseUrl);
  url.port = String(port);
  return {
    databaseUrl: url.href,
    cut: async () => {
      const stopped = new Promise((resolve) => server.close(resolve));
      hangUp();
      await stopped;
    },
    freeze: () => (frozen = true),
    fix: async () => {
      frozen = false;
      hangUp();
      if (!server.listening) await listenHere(server, port);
    },
  };
}
