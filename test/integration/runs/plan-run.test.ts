import { afterAll, beforeAll, expect, it } from 'vitest';
import { planRun } from '../../../src/runs/planning/plan-run.ts';
import { findOrBeginRun } from '../../../src/runs/begin-run.ts';
import { openTestWarehouse, type TestWarehouse } from '../../helpers/database.ts';
import { stagedRun, testSpec } from '../../helpers/rows.ts';

let warehouse: TestWarehouse;
const refused = { kind: 'refused', pauseReason: { type: 'plan.changed' } };
const budgets = {};
const dependencies = () => ({ warehouse, service: 'test', rateLimits: [], budgets, callConcurrency: 1 });

beforeAll(async () => {
  warehouse = await openTestWarehouse();
});

afterAll(() => warehouse.drop());

it('a run that is bound to another plan is refused, also in a retry after its worker died', async () => {
  const { runId } = await stagedRun(warehouse, [{ keys: ['email:ada@orbit.example'] }]);
  await warehouse.pool.query(`update runs set expected_plan_hash = '0123456789abcdef' where run_id = $1`, [
    runId,
  ]);
  expect(await planRun(dependencies(), runId)).toMatchObject(refused);
  expect(await planRun(dependencies(), runId)).toMatchObject(refused);
});

it('a run that was begun without a hash is bound by a command that names one before there is a plan', async () => {
  const spec = testSpec();
  const run = await stagedRun(warehouse, [{ keys: ['email:bo@orbit.example'] }], spec);
  const { found } = await findOrBeginRun(warehouse, { ...spec, expectedPlanHash: '0123456789abcdef' });
  expect(found).toBe(true);
  expect(await planRun(dependencies(), run.runId)).toMatchObject(refused);
});

it('a run that has its plan is bound to no other one afterwards: it may have spent', async () => {
  const spec = testSpec();
  const run = await stagedRun(warehouse, [{ keys: ['email:cy@orbit.example'] }], spec);
  await planRun(dependencies(), run.runId);
  const { found } = await findOrBeginRun(warehouse, { ...spec, expectedPlanHash: '0123456789abcdef' });
  expect(found).toBe(true);
  expect(await planRun(dependencies(), run.runId)).toMatchObject({ kind: 'planned' });
});
