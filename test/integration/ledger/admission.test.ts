import { beforeEach, expect, it } from 'vitest';
import type { RateLimit } from '../../../src/domain/rates/rate-limit.ts';
import { createAdmission, type Admission, type AdmissionRequest } from '../../../src/ledger/admit.ts';
import { endCall } from '../../../src/ledger/rate-windows.ts';
import { setRunStatus } from '../../../src/runs/runs.ts';
import { warehouseOfFile } from '../../helpers/database/database.ts';
import { bulkCalls, emptyWindows, nextCalls, requestFor } from '../../helpers/warehouse/admit.ts';
import { addToSuppressionList, outcomesOf, runningRun } from '../../helpers/warehouse/rows.ts';
import { runningRunOf } from '../../helpers/warehouse/scripted-calls.ts';

const warehouse = await warehouseOfFile({ connections: 20, connectMilliseconds: 60_000 });
const { ask } = nextCalls(warehouse);

beforeEach(() => emptyWindows(warehouse));

async function budgetOf(runId: string): Promise<{ reserved: string; settled: string }> {
  const [budget] = await warehouse.query<{ reserved: string; settled: string }>`
    select reserved, settled from budgets where budget_id = ${`run:${runId}`}`;
  return budget!;
}

it('admit() returns "taken" for a call with people of another open call of the same run', async () => {
  const runId = await runningRun(warehouse);
  const both = await Promise.all([ask(runId, { from: 1 }), ask(runId, { from: 5 })]);
  expect(both.map((admission) => admission.kind).sort()).toEqual(['admitted', 'taken']);
});

it('admit() returns "taken" for a call with a person who already has an outcome', async () => {
  const runId = await runningRun(warehouse);
  await warehouse.query`
    update run_rows set outcome = 'enriched' where run_id = ${runId} and row_number = 3`;
  expect(await ask(runId)).toEqual({ kind: 'taken' });
});

it('admit() admits exactly 30 of 120 concurrent calls if the budget of the run allows 30', async () => {
  const runId = await runningRun(warehouse, '300');
  const admissions = await Promise.all(Array.from({ length: 120 }, () => ask(runId)));

  expect(admissions.filter((admission) => admission.kind === 'admitted')).toHaveLength(30);
  expect(admissions.filter((admission) => admission.kind === 'over_budget')).toHaveLength(90);
  expect(Number((await budgetOf(runId)).reserved)).toBe(300);
});

/** Admits calls for people from these rows on. The first call is admitted alone, the others wait for it. */
function askTogether(
  requests: readonly AdmissionRequest[],
  rateLimits: readonly RateLimit[] = [],
): Promise<Admission[]> {
  const admitTogether = createAdmission(warehouse.database, { service: 'test', rateLimits, budgets: {} });
  return Promise.all(requests.map(admitTogether));
}

async function transactionsOf(runId: string): Promise<number> {
  const rows = await warehouse.query<{ count: number }>`
    select count(distinct xmin::text)::int as count from attempts where run_id = ${runId}`;
  return rows[0]!.count;
}

const kindsOf = (admissions: readonly Admission[]): string[] => admissions.map(({ kind }) => kind);

it('calls that wait for admission are admitted in one transaction, in their order', async () => {
  const runId = await runningRun(warehouse);
  const requests = [1, 11, 21, 31, 41].map((from) => requestFor(runId, from));
  const admissions = await askTogether(requests, [{ calls: 4, seconds: 60 }]);
  expect(kindsOf(admissions)).toEqual([...Array(4).fill('admitted'), 'wait']);
  expect(admissions[4]).toMatchObject({ reason: 'the rate window of 4/minute is full' });
  expect(await transactionsOf(runId)).toBe(2);
  const rows = await warehouse.query`
    select array_agg(p.row_number order by p.detail_index) as rows from attempt_people p join attempts a using
    (attempt_id) where a.run_id = ${runId} group by a.attempt_id order by 1`;
  expect(rows.map((row) => row.rows)).toEqual(requests.slice(0, 4).map(({ rowNumbers }) => rowNumbers));
});

it('calls admitted together share a budget: the last admitted call gets fewer people', async () => {
  const runId = await runningRun(warehouse, '25');
  const admissions = await askTogether([1, 11, 21, 31].map((from) => requestFor(runId, from)));
  expect(kindsOf(admissions)).toEqual(['admitted', 'admitted', 'admitted', 'over_budget']);
  expect(admissions[2]).toMatchObject({ rowNumbers: [21, 22, 23, 24, 25] });
  expect(admissions[3]).toMatchObject({ budget: `run:${runId}`, mayFreeCredits: true });
  expect(Number((await budgetOf(runId)).reserved)).toBe(25);
});

it('admit() says that credits may be freed while the answer of an ended call is not recorded yet', async () => {
  const runId = await runningRun(warehouse, '10');
  const [first] = await askTogether([requestFor(runId, 1)]);
  const { attemptId } = first as Extract<Admission, { kind: 'admitted' }>;
  await endCall(warehouse.database, bulkCalls, attemptId, 'accepted');
  expect(await askTogether([requestFor(runId, 11)])).toMatchObject([
    { kind: 'over_budget', mayFreeCredits: true },
  ]);
});

it('if calls of a running and a paused run are admitted together, only the running run gets calls', async () => {
  const [running, paused] = [await runningRun(warehouse), await runningRun(warehouse)];
  await setRunStatus(warehouse, paused, 'paused', undefined);
  const runs = [running, paused, running, paused];
  const admissions = await askTogether(runs.map((runId, index) => requestFor(runId, index * 10 + 1)));
  expect(kindsOf(admissions)).toEqual(['admitted', 'not_running', 'admitted', 'not_running']);
  expect(await transactionsOf(running)).toBe(2);
});

it('admit() suppresses a row put on the suppression list after its batch was read, and admits others', async () => {
  const rows = ['ada', 'bo'].map((name) => ({ email: `${name}@admission.example`, firstName: name }));
  const runId = await runningRunOf(warehouse, rows);
  await addToSuppressionList(warehouse, 'email:bo@admission.example');
  expect(await ask(runId, { people: 2, from: 1 })).toEqual({ kind: 'taken' });
  expect(await outcomesOf(warehouse, runId)).toEqual([null, 'suppressed']);
  expect(await ask(runId, { people: 1, from: 1 })).toMatchObject({ kind: 'admitted', rowNumbers: [1] });
  const attempts = await warehouse.query`select people from attempts where run_id = ${runId}`;
  expect(attempts).toEqual([{ people: 1 }]);
  const kept = await warehouse.query`
    select email, first_name from run_rows where run_id = ${runId} and row_number = 2`;
  expect(kept).toEqual([{ email: null, first_name: null }]);
  const admitTogether = createAdmission(warehouse.database, {
    service: 'test',
    rateLimits: [],
    budgets: {},
  });
  const again = await Promise.all([1, 2].map((from) => admitTogether(requestFor(runId, from, 1))));
  expect(again).toEqual([{ kind: 'taken' }, { kind: 'taken' }]);
});
