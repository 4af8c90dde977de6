import { expect, it } from 'vitest';
import { enrichBatch, openBatches } from '../../../src/calls/batches/enrich-batch.ts';
import { finishRun } from '../../../src/runs/finish-run.ts';
import { askedBy } from '../../../src/runs/pages.ts';
import { planRows } from '../../../src/runs/planning/plan-rows.ts';
import { setRunStatus } from '../../../src/runs/runs.ts';
import { warehouseOfFile } from '../../helpers/database/database.ts';
import { answerWith } from '../../helpers/warehouse/answer-with.ts';
import { batchDependencies } from '../../helpers/warehouse/batch-dependencies.ts';
import { somebody } from '../../helpers/warehouse/calls-by-hand.ts';
import { stagedRun, testSpec } from '../../helpers/warehouse/rows.ts';

const warehouse = await warehouseOfFile();

it('a run whose calls the database has lost pauses at its end, and its open calls are unknown', async () => {
  const people = Array.from({ length: 12 }, () => somebody());
  const rows = people.map(({ row }) => row);
  const { runId, options } = await stagedRun(warehouse, rows, testSpec());
  await planRows(warehouse, runId, askedBy(options));
  await setRunStatus(warehouse, runId, 'running', undefined);
  const dependencies = batchDependencies(warehouse)(async ({ details }) =>
    answerWith(details.map(({ email }) => people.find(({ row }) => row.email === email)!.person)),
  );
  const [open] = await openBatches(dependencies, runId, [2]);
  await enrichBatch(dependencies, open!, new AbortController().signal);
  // As if the admission had reached the replica, and the answer not.
  await warehouse.query`
    with reopened as (
      update attempts set status = 'admitted', credits_settled = null, answered_at = null where run_id = ${runId}
      returning attempt_id
    ), money as (
      update budgets set reserved = reserved + 2, settled = settled - 2
      where budget_id = any(array(select unnest(budget_ids) from attempts where run_id = ${runId}))
    )
    update run_rows set outcome = null where run_id = ${runId} and row_number > 10`;
  const facts = await finishRun(warehouse, runId, 'finished', undefined);
  expect(facts).toMatchObject({ status: 'paused', reason_type: 'database.lost-calls' });
  expect(facts.reason).toContain('10 rows have no outcome');
  expect(facts.credits).toMatchObject({ unknown: '2' });
  expect(await finishRun(warehouse, runId, 'cancelled', undefined)).toMatchObject({ status: 'cancelled' });
});
