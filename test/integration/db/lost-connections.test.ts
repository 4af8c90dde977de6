import { setTimeout as sleep } from 'node:timers/promises';
import { sql } from 'kysely';
import { to as copyTo } from 'pg-copy-streams';
import { expect, it, onTestFinished } from 'vitest';
import { openWarehouse, type Warehouse } from '../../../src/db/database.ts';
import { canSucceedLater } from '../../../src/db/postgres-errors.ts';
import { createTestDatabase } from '../../helpers/database/database.ts';
import { startTcpProxy } from '../../helpers/servers/tcp-proxy.ts';

const databaseUrl = new URL(await createTestDatabase());

/**
 * A session whose process has not yet read a statement looks like a lost one. On a machine under load a process can
 * wait for tenths of a second.
 */
const lostAfterMilliseconds = 1_000;
/** Longer than a lost connection has. */
const long = { milliseconds: 2_500, seconds: sql.lit(2.5) };

function open(
  options: Parameters<typeof openWarehouse>[1],
  port = databaseUrl.port,
  startup = '',
): Warehouse {
  const url = new URL(databaseUrl);
  url.searchParams.set('options', startup);
  url.port = port;
  const warehouse = openWarehouse(url.href, { connections: 1, ...options });
  onTestFinished(() => warehouse.close());
  return warehouse;
}

const lock = sql`select pg_advisory_xact_lock(1)`;

it('a statement whose connection is lost without a word fails, and its session frees its locks', async () => {
  const proxy = await startTcpProxy(Number(databaseUrl.port));
  onTestFinished(() => proxy.close());
  const warehouse = open({ lostAfterMilliseconds }, String(proxy.port));
  const failure = await warehouse.database
    .transaction()
    .execute(async (transaction) => {
      await lock.execute(transaction);
      proxy.lose();
      await lock.execute(transaction);
    })
    .catch((error: unknown) => error);
  expect(canSucceedLater(failure)).toBe(true);
  await warehouse.database.transaction().execute((transaction) => lock.execute(transaction));
});

it('a statement that takes long, or waits for a lock, keeps its connection', async () => {
  const warehouse = open({ lostAfterMilliseconds });
  const other = open({});
  const [slept] = await Promise.all([
    warehouse.database.transaction().execute(async (transaction) => {
      await lock.execute(transaction);
      return sql<{ slept: string }>`select pg_sleep(${long.seconds})::text as slept`.execute(transaction);
    }),
    other.database.transaction().execute(async (transaction) => {
      await lock.execute(transaction);
      await sql`select pg_sleep(${long.seconds})`.execute(transaction);
    }),
  ]);
  expect(slept.rows).toEqual([{ slept: '' }]);
});

it('a login that takes another role when it connects keeps and loses its connections in the same way', async () => {
  const role = `enrich_lost_${process.pid}`;
  const { database } = open({});
  await sql`create role ${sql.id(role)}`.execute(database);
  await sql`grant ${sql.id(role)} to current_user`.execute(database);
  onTestFinished(async () => {
    await sql`drop role ${sql.id(role)}`.execute(database);
  });
  const proxy = await startTcpProxy(Number(databaseUrl.port));
  onTestFinished(() => proxy.close());
  const warehouse = open({ lostAfterMilliseconds }, String(proxy.port), `-c role=${role}`);
  await sql`select`.execute(warehouse.database);
  proxy.lose();
  const failure = await sql`select`.execute(warehouse.database).catch((error: unknown) => error);
  expect(canSucceedLater(failure)).toBe(true);
  const { rows } = await sql`select current_user as "user", pg_sleep(${long.seconds})::text as slept`.execute(
    warehouse.database,
  );
  expect(rows).toEqual([{ user: role, slept: '' }]);
});

it('rows that are read slowly keep their connection', async () => {
  const warehouse = open({ lostAfterMilliseconds });
  const client = await warehouse.pool.connect();
  const rows = client.query(
    copyTo(`copy (select repeat('x', 1000) from generate_series(1, 1000)) to stdout`),
  );
  let bytes = 0;
  try {
    for await (const piece of rows as AsyncIterable<Buffer>) {
      if (bytes === 0) await sleep(long.milliseconds);
      bytes += piece.length;
    }
  } finally {
    client.release(true);
  }
  expect(bytes).toBe(1_001_000);
});

it('a process that stops in the middle of a transaction does not keep its locks', async () => {
  const stopped = open({ idleTransactionMilliseconds: 200 });
  const other = open({});
  const failure = await stopped.database
    .transaction()
    .execute(async (transaction) => {
      await lock.execute(transaction);
      await other.database.transaction().execute((next) => lock.execute(next));
      await lock.execute(transaction);
    })
    .catch((error: unknown) => error);
  expect(canSucceedLater(failure)).toBe(true);
});
