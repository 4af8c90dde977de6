import { sql } from 'kysely';
import { expect, it, onTestFinished } from 'vitest';
import { openWarehouse } from '../../../src/db/database.ts';
import { migrate } from '../../../src/db/migrate.ts';
import { createTestDatabase } from '../../helpers/database/database.ts';
import { startPooler, type Pooler } from '../../helpers/servers/pooler.ts';

async function poolerOf(...of: Parameters<typeof startPooler>): Promise<Pooler> {
  const pooler = await startPooler(...of);
  onTestFinished(() => pooler.close());
  return pooler;
}

it('a pooler in session mode that refuses startup options serves migrations and a warehouse', async () => {
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

it('migrate() refuses a pooler that gives each transaction another session, and says which mode to use', async () => {
  const { databaseUrl } = await poolerOf(await createTestDatabase({ empty: true }), 'transaction');
  await expect(migrate(databaseUrl)).rejects.toMatchObject({
    type: 'database.pooler',
    next: expect.stringContaining('session mode'),
  });
});
