import { sql } from 'kysely';
import { expect, it, onTestFinished } from 'vitest';
import { openWarehouse } from '../../../src/db/database.ts';
import { migrate } from '../../../src/db/migrate.ts';
import { createTestDatabase } from '../../helpers/database/database.ts';
import { createServer, type Socket } from 'node:net';
import { Client } from 'pg';
import { listenHere } from '../../helpers/servers/ports.ts';

interface Pooler {
  /** Address of the same database through the pooler. */
  readonly databaseUrl: string;
  close(): Promise<void>;
}

/**
 * Starts a connection pooler in front of a database. As PgBouncer does, it answers the start of a connection itself,
 * with an invented process id, and refuses the startup parameter `options`.
 *
 * @param mode `session`: each client has a session of its own; `transaction`: all clients share one session, and each
 *   transaction can be another client's
 */
async function startPooler(databaseUrl: string, mode: 'session' | 'transaction'): Promise<Pooler> {
  const sessions: Promise<Session>[] = [];
  const open = (): Promise<Session> => {
    const session = openSession(databaseUrl);
    sessions.push(session);
    return session;
  };
  const shared = mode === 'transaction' ? open() : undefined;
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket)).on('error', () => socket.destroy());
    socket.once('data', (startup) => {
      if (startup.includes('\0options\0')) {
        socket.end(message('E', 'SFATAL\0C08P01\0Munsupported startup parameter: options\0\0'));
        return;
      }
      serve(socket, shared ?? open());
    });
  });
  const url = new URL(databaseUrl);
  url.host = `127.0.0.1:${await listenHere(server)}`;
  return {
    databaseUrl: url.href,
    close: async () => {
      for (const socket of sockets) socket.destroy();
      for (const session of sessions) (await session).end();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

interface Session {
  /** Relays a transaction of a client after all earlier transactions. */
  readonly take: (client: Socket, onEnd: () => void) => Promise<(bytes: Buffer) => void>;
  readonly end: () => void;
}

async function openSession(databaseUrl: string): Promise<Session> {
  const client = new Client({ connectionString: databaseUrl });
  client.on('error', () => {});
  await client.connect();
  const { stream } = (client as unknown as { connection: { stream: Socket } }).connection;
  stream.removeAllListeners('data');
  let free = Promise.resolve();
  const take: Session['take'] = (socket, onEnd) => {
    const taken = free.then(() => (bytes: Buffer) => void stream.write(bytes));
    free = free.then(
      () =>
        new Promise((release) => {
          const relay = (bytes: Buffer): void => {
            socket.write(bytes);
            // Only ReadyForQuery outside of a transaction ends the relay.
            if (!bytes.subarray(-6).equals(idle)) return;
            stream.off('data', relay);
            onEnd();
            release();
          };
          stream.on('data', relay);
        }),
    );
    return taken;
  };
  return {
    take,
    end: () => stream.destroy(),
  };
}

const idle = message('Z', 'I');

/** Relays the transactions of a client to its session. */
function serve(socket: Socket, session: Promise<Session>): void {
  let send: ((bytes: Buffer) => void) | undefined;
  let waiting: Promise<void> = Promise.resolve();
  socket.on('data', (bytes) => {
    // Terminate ends the client, not its session.
    if (bytes[0] === 'X'.charCodeAt(0)) return void socket.end();
    const sent = waiting;
    waiting = (async () => {
      await sent;
      send ??= await (await session).take(socket, () => (send = undefined));
      send(bytes);
    })();
  });
  socket.write(
    Buffer.concat([
      message('R', Buffer.alloc(4)),
      message('S', 'client_encoding\0UTF8\0'),
      message('K', Buffer.from([0x7f, 0xff, 0xff, 0xff, 0, 0, 0, 1])),
      idle,
    ]),
  );
}

/** A message of PostgreSQL's protocol. */
function message(type: string, content: string | Buffer): Buffer {
  const bytes = Buffer.from(content);
  const head = Buffer.alloc(5);
  head.write(type);
  head.writeInt32BE(bytes.length + 4, 1);
  return Buffer.concat([head, bytes]);
}

async function poolerOf(...of: Parameters<typeof startPooler>): Promise<Pooler> {
  const pooler = await startPooler(...of);
  onTestFinished(() => pooler.close());
  return pooler;
}

it('migrations and queries work through a pooler in session mode that refuses startup options', async () => {
  const { databaseUrl } = await poolerOf(await createTestDatabase({ empty: true }), 'session');
  expect((await migrate(databaseUrl)).done).not.toEqual([]);
  const warehouse = openWarehouse(databaseUrl, { connections: 2, keepsPlans: true });
  onTestFinished(() => warehouse.close());
  const runs = await Promise.all(
    [1, 2].map(() => warehouse.database.selectFrom('runs').selectAll().execute()),
  );
  expect(runs).toEqual([[], []]);
  const { rows } = await sql`select current_setting('enable_seqscan') as scans`.execute(warehouse.database);
  expect(rows).toEqual([{ scans: 'off' }]);
});

it('migrate() refuses a pooler in transaction mode, and says which mode to use', async () => {
  const { databaseUrl } = await poolerOf(await createTestDatabase({ empty: true }), 'transaction');
  await expect(migrate(databaseUrl)).rejects.toMatchObject({
    type: 'database.pooler',
    next: expect.stringContaining('session mode'),
  });
});
