import { expect, it } from 'vitest';
import type { Warehouse } from '../../../src/db/database.ts';
import { WarehouseMetrics } from '../../../src/monitoring/warehouse-metrics.ts';
import { valueOf } from '../../helpers/outputs/metrics-fixture.ts';
import { openTestWarehouse } from '../../helpers/database/database.ts';
import { runningRun } from '../../helpers/warehouse/rows.ts';

it('the metrics of the warehouse read few calls of an unfinished run that has 20,000', async () => {
  const warehouse = await openTestWarehouse({ connections: 1 });
  const runId = await runningRun(warehouse);
  // Rows of an asynchronous commit are not visible to the index alone.
  await warehouse.query`set synchronous_commit = on`;
  await warehouse.query`
    insert into attempts (attempt_id, run_id, batch, status, people, credits_reserved, credits_settled, budget_ids)
    select 'a' || n, ${runId}, n, 'settled', 10, 0, 10, '{}' from generate_series(1, 20000) n`;
  await warehouse.query`analyze attempts`;
  // While a session of the server, such as autovacuum, sees an older state, a vacuum leaves pages out.
  await expect.poll(() => pagesOutsideTheIndex(warehouse)).toBe(0);
  const rowsRead = async (): Promise<number> => {
    await warehouse.query`select pg_stat_force_next_flush()`;
    const rows = await warehouse.query<{ read: number }>`
      select (seq_tup_read + idx_tup_fetch)::int as read from pg_stat_user_tables where relname = 'attempts'`;
    return rows[0]!.read;
  };
  const before = await rowsRead();
  await warehouse.query`update runs set plan = '{"people": 300000}'`;
  const metrics = new WarehouseMetrics(warehouse, { service: 'test', rateLimits: [], budgets: {} });
  expect(valueOf(await metrics.read(), `enrich_run_people{run="${runId}",state="asked"}`)).toBe(200_000);
  expect((await rowsRead()) - before).toBeLessThan(1_000);
  await warehouse.close();
});

/** Vacuums the calls and returns how many of their pages the index alone cannot answer for. */
async function pagesOutsideTheIndex({ pool }: Warehouse): Promise<number> {
  await pool.query('vacuum attempts');
  const { rows } = await pool.query<{ pages: number }>(
    `select relpages - relallvisible as pages from pg_class where oid = 'attempts'::regclass`,
  );
  return rows[0]!.pages;
}
