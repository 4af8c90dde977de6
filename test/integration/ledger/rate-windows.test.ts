import { beforeEach, expect, it } from 'vitest';
import type { RateLimit } from '../../../src/domain/rates/rate-limit.ts';
import { bulkMatchScope } from '../../../src/ledger/rate-windows.ts';
import { warehouseOfFile } from '../../helpers/database/database.ts';
import { emptyWindows, nextCalls } from '../../helpers/warehouse/admit.ts';
import { runningRun } from '../../helpers/warehouse/rows.ts';

const warehouse = await warehouseOfFile({ connections: 20, connectMilliseconds: 60_000 });
const { ask } = nextCalls(warehouse);

beforeEach(() => emptyWindows(warehouse));

const three: RateLimit[] = [{ calls: 3, seconds: 10 }];

it('concurrent admissions never exceed a rate window', async () => {
  const runId = await runningRun(warehouse);
  const admissions = await Promise.all(Array.from({ length: 30 }, () => ask(runId, { rateLimits: three })));
  expect(admissions.filter((admission) => admission.kind === 'admitted')).toHaveLength(3);
});

it('a rate window forgets calls that have left every window while others are admitted', async () => {
  const runId = await runningRun(warehouse);
  await warehouse.pool.query(`
    insert into rate_calls (call_id, scope, counted_until)
    select 'old-' || age, '${bulkMatchScope}', clock_timestamp() - make_interval(hours => age)
    from generate_series(23, 49) as age`);
  const remaining = async (): Promise<string[]> => {
    expect(await ask(runId)).toMatchObject({ kind: 'admitted' });
    const rows = await warehouse.query<{ call_id: string }>`
      select call_id from rate_calls where call_id like 'old-%' order by counted_until limit 1`;
    return rows.map((row) => row.call_id);
  };
  expect(await remaining()).toEqual(['old-47']);
  expect(await remaining()).toEqual(['old-45']);
  for (let calls = 0; calls < 20; calls += 1) await ask(runId);
  expect(await remaining()).toEqual(['old-23']);
});
