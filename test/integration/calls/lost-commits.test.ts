import { Client } from 'pg';
import { expect, inject, it, onTestFinished, vi } from 'vitest';
import type { AttemptDependencies } from '../../../src/calls/attempt-call.ts';
import { enrichBatch } from '../../../src/calls/batches/enrich-batch.ts';
import { openBatches } from '../../../src/calls/batches/open-batches.ts';
import { bulkMatchScope, pauseScope } from '../../../src/ledger/rate-windows.ts';
import { restoreAdmission, type AdmittedCall } from '../../../src/ledger/restore-admission.ts';
import { finishRun } from '../../../src/runs/finish-run.ts';
import { askedBy } from '../../../src/runs/pages/pages.ts';
import { planRows } from '../../../src/runs/planning/plan-rows.ts';
import { setRunStatus } from '../../../src/runs/runs.ts';
import { suppress } from '../../../src/suppression/suppression-list.ts';
import type { BulkRequest } from '../../../src/service/client.ts';
import { operations } from '../../../src/service/endpoints.ts';
import { ServiceFailure } from '../../../src/service/failures/failure.ts';
import { warehouseOfFile } from '../../helpers/database/database.ts';
import { answerWith } from '../../helpers/warehouse/answer-with.ts';
import { batchDependencies } from '../../helpers/warehouse/batch-dependencies.ts';
import { somebody } from '../../helpers/warehouse/calls-by-hand.ts';
import { outcomesOf, stagedRun, testSpec } from '../../helpers/warehouse/rows.ts';

/** A failover to a replica that lagged behind: the last commits before it are lost. */
const warehouse = await warehouseOfFile();
const dependenciesOf = batchDependencies(warehouse);

async function onServer(...statements: readonly string[]): Promise<void> {
  const client = new Client({ connectionString: inject('postgresServerUrl') });
  await client.connect();
  for (const statement of statements) await client.query(statement);
  await client.end();
}

/** @returns fails over to the present state of the database */
async function lag(): Promise<() => Promise<void>> {
  const [row] = await warehouse.query<{ name: string }>`select current_database() as name`;
  const name = row!.name;
  const replica = `${name}_${Date.now()}`;
  const cut = `select pg_terminate_backend(pid) from pg_stat_activity where datname = '${name}'`;
  await onServer(cut, `create database ${replica} template ${name} strategy file_copy`);
  return () =>
    onServer(
      cut,
      `alter database ${name} rename to ${replica}_lost`,
      `alter database ${replica} rename to ${name}`,
    );
}

/** What a worker needs for calls during which the database fails over. */
async function dependenciesAtFailover(
  ...[answer]: Parameters<typeof dependenciesOf>
): Promise<AttemptDependencies> {
  const failOver = await lag();
  return dependenciesOf(async (request) => {
    await failOver();
    return answer(request);
  });
}

/** A running run of two batches, and the people of the first batch. */
async function runOfTwoBatches(): Promise<{ runId: string; people: readonly ReturnType<typeof somebody>[] }> {
  const people = Array.from({ length: 12 }, () => somebody());
  const run = await stagedRun(
    warehouse,
    people.map(({ row }) => row),
    testSpec(),
  );
  await planRows(warehouse, run.runId, askedBy(run.options));
  await setRunStatus(warehouse, run.runId, 'running', undefined);
  return { runId: run.runId, people };
}

/** The people of a request, as the service knows them. */
function found(
  people: Awaited<ReturnType<typeof runOfTwoBatches>>['people'],
  details: BulkRequest['details'],
) {
  return details.map(({ email }) => people.find(({ row }) => row.email === email)!.person);
}

async function enrich(dependencies: AttemptDependencies, runId: string, batch: number): Promise<void> {
  const [open] = await openBatches(dependencies, runId, [batch]);
  await enrichBatch(dependencies, open!, new AbortController().signal);
}

async function moneyOf(runId: string): Promise<unknown> {
  const [row] = await warehouse.query`
    select reserved::float8, settled::float8 from budgets where budget_id = ${`run:${runId}`}`;
  return row;
}

it('a recorded call that the database has lost is recorded again before the next call', async () => {
  const { runId, people } = await runOfTwoBatches();
  const asked: number[] = [];
  const dependencies = dependenciesOf(async ({ details }) => {
    asked.push(details.length);
    return answerWith(found(people, details), { requestId: `request-${asked.length}` });
  });
  const failOver = await lag();
  await enrich(dependencies, runId, 1);
  await failOver();
  expect(await outcomesOf(warehouse, runId)).toEqual(Array.from({ length: 12 }, () => null));
  await enrich(dependencies, runId, 2);
  expect(await outcomesOf(warehouse, runId)).toEqual(Array.from({ length: 12 }, () => 'enriched'));
  expect(asked).toEqual([10, 2]);
  expect(await moneyOf(runId)).toEqual({ reserved: 0, settled: 12 });
  expect(await warehouse.query`select request_id from attempts where run_id = ${runId} order by 1`).toEqual([
    { request_id: 'request-1' },
    { request_id: 'request-2' },
  ]);
});

it('a call that is recorded again keeps its time, and ends no later pause of the service', async () => {
  const { runId, people } = await runOfTwoBatches();
  const dependencies = dependenciesOf(async ({ details }) => answerWith(found(people, details)));
  const times = () => warehouse.query<{ call: Date; slot: Date }>`
    select admitted_at as call, started_at as slot from attempts join rate_calls on call_id = attempt_id
    where run_id = ${runId} and batch = 2`;
  const failOver = await lag();
  await enrich(dependencies, runId, 2);
  const [before] = await times();
  await failOver();
  await pauseScope(warehouse.database, bulkMatchScope, 'refused', 60);
  await expect.poll(times, { timeout: 20_000 }).toHaveLength(1);
  const [after] = await times();
  // A call with the time of its restoration would be later by nearly all of the time that has passed.
  const passed = Date.now() - before!.call.getTime();
  expect(Math.abs(after!.call.getTime() - before!.call.getTime())).toBeLessThan(passed / 2);
  expect(Math.abs(after!.slot.getTime() - before!.slot.getTime())).toBeLessThan(passed / 2);
  await expect.poll(() => outcomesOf(warehouse, runId), { timeout: 20_000 }).toContain('enriched');
  expect(
    await warehouse.query`select refusals from rate_scopes where paused_until > clock_timestamp()`,
  ).toEqual([{ refusals: 1 }]);
  await warehouse.query`update rate_scopes set paused_until = null, refusals = 0`;
});

it('restoreAdmission() restores a call once if two sessions restore it', async () => {
  const { runId } = await runOfTwoBatches();
  const call: AdmittedCall = {
    attemptId: `lost-${runId}`,
    runId,
    batch: 2,
    priority: 'ad-hoc',
    rowNumbers: [11, 12],
    creditsPerPerson: 1_000_000n,
    deadlineSeconds: 65,
    lateResults: false,
    token: undefined,
    admittedAt: performance.now(),
  };
  const restored = Array.from({ length: 4 }, () =>
    restoreAdmission(warehouse, { rateLimits: [], budgets: {} }, call),
  );
  expect((await Promise.all(restored)).filter(Boolean)).toEqual([true]);
  expect(await moneyOf(runId)).toEqual({ reserved: 2, settled: 0 });
});

it('a recorded call that the database has lost is recorded again although no call follows', async () => {
  const { runId, people } = await runOfTwoBatches();
  const dependencies = dependenciesOf(async ({ details }) => answerWith(found(people, details)));
  const failOver = await lag();
  await enrich(dependencies, runId, 2);
  await failOver();
  await expect
    .poll(async () => (await outcomesOf(warehouse, runId)).slice(10), { timeout: 20_000 })
    .toEqual(['enriched', 'enriched']);
  expect(await moneyOf(runId)).toEqual({ reserved: 0, settled: 2 });
});

it('a call in flight whose admission the database has lost is recorded with its answer', async () => {
  const { runId, people } = await runOfTwoBatches();
  const dependencies = await dependenciesAtFailover(async ({ details }) =>
    answerWith(found(people, details)),
  );
  await enrich(dependencies, runId, 2);
  expect((await outcomesOf(warehouse, runId)).slice(10)).toEqual(['enriched', 'enriched']);
  expect(await moneyOf(runId)).toEqual({ reserved: 0, settled: 2 });
});

it('a call in flight is recorded after a failover that ends none of the connections', async () => {
  const { runId, people } = await runOfTwoBatches();
  const { pool } = warehouse;
  const emit = pool.emit.bind(pool);
  // The end of a connection without an answer from its server is never reported.
  const silence = vi
    .spyOn(pool, 'emit')
    .mockImplementation((...event) => event[0] === 'remove' || emit(...event));
  onTestFinished(() => silence.mockRestore());
  const dependencies = await dependenciesAtFailover(async ({ details }) =>
    answerWith(found(people, details)),
  );
  await enrich(dependencies, runId, 2);
  expect((await outcomesOf(warehouse, runId)).slice(10)).toEqual(['enriched', 'enriched']);
});

it('a call in flight that fails after its admission was lost keeps its credits reserved as unknown', async () => {
  const { runId } = await runOfTwoBatches();
  const dependencies = await dependenciesAtFailover(async () => {
    throw new ServiceFailure('timeout', { endpoint: operations.bulkMatch });
  });
  await enrich(dependencies, runId, 2);
  expect((await outcomesOf(warehouse, runId)).slice(10)).toEqual(['unknown', 'unknown']);
  expect(await moneyOf(runId)).toEqual({ reserved: 2, settled: 0 });
});

it('a call recorded again after its run was cancelled gives no outcome to people suppressed since', async () => {
  const { runId, people } = await runOfTwoBatches();
  const dependencies = dependenciesOf(async ({ details }) => answerWith(found(people, details)));
  const failOver = await lag();
  await enrich(dependencies, runId, 2);
  await failOver();
  const { email } = people[10]!.row;
  await warehouse.database
    .transaction()
    .execute((transaction) => suppress(transaction, [`email:${email}`], { by: 'test', reason: 'asked' }));
  await finishRun(warehouse, runId, 'cancelled', undefined);
  await expect.poll(() => moneyOf(runId), { timeout: 20_000 }).toEqual({ reserved: 0, settled: 2 });
  expect((await outcomesOf(warehouse, runId)).slice(9)).toEqual(['cancelled', 'suppressed', 'enriched']);
  expect(
    await warehouse.query`
      select runs.status, body_gzip, found_ids from attempts join runs using (run_id)
      left join raw_answers using (attempt_id) where run_id = ${runId}`,
  ).toEqual([
    {
      status: 'cancelled',
      body_gzip: null,
      found_ids: [expect.stringMatching(/^suppressed-/), people[11]!.person.id],
    },
  ]);
});

it('a run whose calls the database has lost pauses at its end, and its open calls are unknown', async () => {
  const { runId, people } = await runOfTwoBatches();
  const dependencies = dependenciesOf(async ({ details }) => answerWith(found(people, details)));
  await enrich(dependencies, runId, 2);
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
