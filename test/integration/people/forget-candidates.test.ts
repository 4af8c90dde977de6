import { sql } from 'kysely';
import { expect, it } from 'vitest';
import { removeReplaced } from '../../../src/people/log/replaced-observations.ts';
import { warehouseOfFile } from '../../helpers/database/database.ts';

const warehouse = await warehouseOfFile({ connections: 1 });
const candidates = 2_000;

function addCandidates(first: number) {
  return warehouse.query`
    insert into prune_candidates (observation_id, recorded_at)
    select n, now() - interval '1 day' from generate_series(${first}::integer, ${first + candidates - 1}::integer) n`;
}

async function pagesRead(): Promise<number> {
  await warehouse.query`select pg_stat_force_next_flush()`;
  const [table] = await warehouse.query<{ pages: number }>`
    select (heap_blks_read + heap_blks_hit)::integer as pages from pg_statio_user_tables
    where relname = 'prune_candidates'`;
  return table!.pages;
}

it('removeReplaced() looks candidates up after earlier nights have left the table empty', async () => {
  await warehouse.query`alter table prune_candidates set (autovacuum_enabled = off)`;
  await addCandidates(1);
  await warehouse.query`delete from prune_candidates`;
  await warehouse.query`vacuum (truncate off) prune_candidates`;
  await addCandidates(10_000);
  const before = await pagesRead();
  await removeReplaced(warehouse, sql<Date>`now()`, new AbortController().signal);
  // Locking a row is no read of the row in the statistics, and reads its page.
  expect((await pagesRead()) - before).toBeLessThan(20 * candidates);
  expect(await warehouse.query`select from prune_candidates`).toEqual([]);
});
