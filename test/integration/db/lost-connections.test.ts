import { sql } from 'kysely';
import { expect, it, onTestFinished } from 'vitest';
import { openWarehouse, type Warehouse } from '../../../src/db/database.ts';
import { isTransientDatabaseError } from '../../../src/db/postgres-errors.ts';
import { createTestDatabase } from '../../helpers/database/database.ts';
import { startTcpProxy } from '../../helpers/servers/tcp-proxy.ts';

const databaseUrl = new URL(await createTestDatabase());

function open(options: Parameters<typeof openWarehouse>[1], port = databaseUrl.port): Warehouse {
  const url = new URL(databaseUrl);
  url.port = port;
  const warehouse = openWarehouse(url.href, { connections: 1, ...options });
  onTestFinished(() => warehouse.close());
  return warehouse;
}

const lock = sql`select pg_advisory_xact_lock(1)`;

it('a statement fails if its connection is lost silently, and the next one gets a new connection', async () => {
  const proxy = await startTcpProxy(Number(databaseUrl.port));
  onTestFinished(() => proxy.close());
  const warehouse = open({ queryMilliseconds: 500 }, String(proxy.port));
  const read = () => sql<{ one: number }>`select 1 as one`.execute(warehouse.database);
  await read();
  proxy.lose();
  const failure = await read().catch((error: unknown) => error);
  expect(isTransientDatabaseError(failure)).toBe(true);
  expect((await read()).rows).toEqual([{ one: 1 }]);
});

it('a transaction that stays idle too long is ended, and another process gets its lock', async () => {
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
  expect(isTransientDatabaseError(failure)).toBe(true);
});
