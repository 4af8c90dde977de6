import { endedWithPhones } from '../../helpers/warehouse/late-calls.ts';
import { expect, it } from 'vitest';
import { measurePrune, prune } from '../../../src/privacy/prune.ts';
import { gatherReport } from '../../../src/report/gather.ts';
import { readRunFacts } from '../../../src/runs/read-run-facts.ts';
import { endRun } from '../../../src/runs/finish-run.ts';
import { warehouseOfFile } from '../../helpers/database/database.ts';
import { outcomesOf, stagedRun, noSignal } from '../../helpers/warehouse/rows.ts';

const always = { rows: 0 };

const warehouse = await warehouseOfFile();

it('prune() removes the rows of an ended run, and keeps the facts of the run and its contacts', async () => {
  const { runId } = await endedWithPhones(warehouse);
  const state = async () => ({
    facts: await readRunFacts(warehouse, runId),
    contacts: await warehouse.query`select * from enriched_contacts where run_id = ${runId}`,
  });
  const before = await state();
  expect(before.facts.outcomes).toEqual({ enriched: 3 });
  const measured = await measurePrune(warehouse, always);
  expect(measured).toMatchObject({ rows: { runs: 1, rows: 3 }, held: [] });
  expect(await prune(warehouse, always, noSignal)).toEqual(measured);
  expect(await outcomesOf(warehouse, runId)).toEqual([]);
  expect(await state()).toEqual(before);
  expect(await warehouse.query`select from run_people where run_id = ${runId}`).toEqual([]);
});

it('after prune() removed the rows, the report of a run has outcomes, credits and costs, no coverage', async () => {
  const { runId } = await endedWithPhones(warehouse);
  const reported = () => gatherReport(warehouse, runId, { rateLimits: [], now: new Date() });
  const { outcomes, credits, costs } = await reported();
  await prune(warehouse, always, noSignal);
  expect(await reported()).toMatchObject({ outcomes, credits, costs, coverage: { fields: [] } });
});

it('three concurrent prune() calls remove 12,000 rows of a run once, and keep the counts of outcomes', async () => {
  const { runId } = await stagedRun(warehouse, []);
  await warehouse.query`
    insert into run_rows (run_id, row_number, contact_id, raw, keys, outcome)
    select ${runId}, n, 'contact-' || n, '[]', '{}', case when n % 3 = 0 then 'fresh' else 'not_found' end
    from generate_series(1, 12000) n`;
  // The positions of the people have gaps.
  await warehouse.query`
    insert into run_people (run_id, position, row_number) select ${runId}, n * 2, n
    from generate_series(1, 12000) n`;
  await warehouse.query`update runs set rows_staged = 12000 where run_id = ${runId}`;
  await endRun(warehouse, runId, 'finished', undefined);
  const removed = await Promise.all([1, 2, 3].map(() => prune(warehouse, always, noSignal)));
  expect(removed.reduce((sum, { rows }) => sum + rows.rows, 0)).toBe(12_000);
  expect((await readRunFacts(warehouse, runId)).outcomes).toEqual({ fresh: 4_000, not_found: 8_000 });
  const rows = await warehouse.query`
    select (select count(*)::int from run_rows where run_id = ${runId}) as rows,
    (select count(*)::int from run_people where run_id = ${runId}) as people`;
  expect(rows).toEqual([{ rows: 0, people: 0 }]);
});
