import { expect, it } from 'vitest';
import type { AttemptDependencies } from '../../../src/calls/attempt-call.ts';
import { enrichBatch, openBatches } from '../../../src/calls/batches/enrich-batch.ts';
import { creditsFromWhole } from '../../../src/domain/money/decimal.ts';
import type { RunOptions } from '../../../src/domain/runs/run-options.ts';
import { storeDeliveries } from '../../../src/late-results/deliveries.ts';
import { hashToken } from '../../../src/ledger/admit.ts';
import { parseProfileUrl } from '../../../src/domain/identity/values/profile-url.ts';
import {
  toDetail,
  type BulkAnswer,
  type BulkRequest,
  serviceOperations,
} from '../../../src/service/client.ts';
import { getRun, setRunStatus } from '../../../src/runs/runs.ts';
import { ServiceFailure } from '../../../src/service/failures/failure.ts';
import { mapFailure } from '../../../src/service/failures/map-failure.ts';
import { finishRun } from '../../../src/runs/finish-run.ts';
import { inventPerson, callsByHand } from '../../helpers/warehouse/calls-by-hand.ts';
import { warehouseOfFile } from '../../helpers/database/database.ts';
import { outcomesOf, noSignal } from '../../helpers/warehouse/rows.ts';
import { answerWith } from '../../helpers/warehouse/answers.ts';
import { bulkAnswer, readAnswer } from '../../helpers/servers/test-client.ts';
import type { BatchResult } from '../../../src/contract/activities.ts';
import { runningRunOf } from '../../helpers/warehouse/scripted-calls.ts';
import { batchDependencies, queueOf } from '../../helpers/warehouse/batch-dependencies.ts';

const warehouse = await warehouseOfFile();
const { lookupOf } = callsByHand(warehouse);

const limits = { service: 'test', rateLimits: [], budgets: {} };

/** What a worker needs for calls to a service that answers as given. */
const dependenciesOf = (answer: (request: BulkRequest) => Promise<Partial<BulkAnswer>>) =>
  batchDependencies(warehouse, limits, answer);

/** A running run of these people. */
function runOf(emails: readonly string[], options: Partial<RunOptions> = {}): Promise<string> {
  const rows = emails.map((email) => ({ email, contactId: email }));
  return runningRunOf(warehouse, rows, options);
}

/** Enriches the first batch of a run. */
async function enrichFirst(dependencies: AttemptDependencies, runId: string): Promise<BatchResult> {
  const [open] = await openBatches(dependencies, runId, [1]);
  return enrichBatch(dependencies, open!, noSignal);
}

it('a call billed above its reservation pauses its run, although its worker stops during the call', async () => {
  const runId = await runOf(['a@orbit.example'], { reveal: ['phone'] });
  const stop = new AbortController();
  const dependencies = dependenciesOf(async ({ webhookUrl }) => {
    const body = Buffer.from('{"people": []}');
    await storeDeliveries(warehouse, [{ tokenHash: hashToken(webhookUrl ?? ''), body }]);
    stop.abort(new Error('the worker stops'));
    return answerWith([null], { creditsConsumed: creditsFromWhole(100) });
  });
  const [open] = await openBatches(dependencies, runId, [1]);
  await expect(enrichBatch(dependencies, open!, stop.signal)).rejects.toThrow('the worker stops');
  expect(await getRun(warehouse, runId)).toMatchObject({
    status: 'paused',
    pauseReason: { type: 'service.overbilled' },
  });
});

it('a worker configured for another service pauses a run instead of sending its calls', async () => {
  const runId = await runOf(['elsewhere@orbit.example'], { service: 'https://other.example/api/v1' });
  const dependencies = dependenciesOf(() => Promise.reject(new Error('a call was sent')));
  const reason = expect.stringContaining('this run belongs to the service') as string;
  expect(await enrichFirst(dependencies, runId)).toMatchObject({
    kind: 'stopped',
    pauseReason: { reason },
  });
  expect(await getRun(warehouse, runId)).toMatchObject({ status: 'paused' });
});

it('an admitted call that was never sent is released, although the database fails once', async () => {
  const runId = await runOf(['c@orbit.example']);
  const dependencies = dependenciesOf(() => Promise.reject(new Error('a call was sent')));
  const [open] = await openBatches(dependencies, runId, [1]);
  const stop = new AbortController();
  let isAway = true;
  const database = new Proxy(warehouse.database, {
    get: (target, name) => {
      if (name !== 'transaction' || !isAway) return (Reflect.get(target, name) as () => void).bind(target);
      isAway = false;
      throw Object.assign(new Error('the connection was reset'), { code: 'ECONNRESET' });
    },
  });
  const stopped = enrichBatch(
    {
      ...dependencies,
      warehouse: { ...warehouse, database },
      admit: async (request) => {
        const admission = await dependencies.admit(request);
        stop.abort(new Error('the worker stops'));
        return admission;
      },
    },
    open!,
    stop.signal,
  );
  await expect(stopped).rejects.toThrow('the worker stops');
  const rows = await warehouse.query`select status from attempts where run_id = ${runId}`;
  expect(rows).toEqual([{ status: 'released' }]);
});

it('a call is released without cost if the database connection is lost while it is admitted', async () => {
  const runId = await runOf(['unconfirmed@orbit.example']);
  const dependencies = dependenciesOf(() => Promise.reject(new Error('no call may be sent')));
  const admit: AttemptDependencies['admit'] = async (request) => {
    expect(await dependencies.admit(request)).toMatchObject({ kind: 'admitted' });
    throw new Error('Connection terminated unexpectedly');
  };
  await expect(enrichFirst({ ...dependencies, admit }, runId)).rejects.toThrow(
    'Connection terminated unexpectedly',
  );
  const rows = await warehouse.query`
    select status, credits_settled::text as settled,
      exists (select from rate_calls where call_id = attempt_id) as holds_slot
    from attempts where run_id = ${runId}`;
  expect(rows).toEqual([{ status: 'released', settled: '0.000000', holds_slot: false }]);
});

it.each([
  ['out-of-credits', { error_code: 'OUT_OF_CREDITS' }, 'service.out-of-credits'],
  ['failed', { status: 'failed' }, 'service.refused'],
])(
  'an answer with the error "%s" enriches the person in it, pauses the run, and leaves the other person for later',
  async (name, error, type) => {
    const [known, left] = [`known@${name}.example`, `left@${name}.example`];
    const emails = [known, left];
    const runId = await runOf(emails);
    const sent: string[][] = [];
    const found = { id: known, name: 'Ada Holm', email: known };
    let body: object = { ...error, matches: [found, null], credits_consumed: 1 };
    const dependencies = dependenciesOf(({ details }) => {
      sent.push(details.map(({ email }) => email!));
      return Promise.resolve(bulkAnswer(body));
    });
    expect(await enrichFirst(dependencies, runId)).toMatchObject({ kind: 'stopped', pauseReason: { type } });
    expect(await getRun(warehouse, runId)).toMatchObject({ status: 'paused', pauseReason: { type } });
    expect(await outcomesOf(warehouse, runId)).toEqual(['enriched', null]);
    expect(await lookupOf({ email: left })).toBeUndefined();
    const money = await warehouse.query`
      select status, credits_settled::float8 as settled from attempts where run_id = ${runId}`;
    expect(money).toEqual([{ status: 'settled', settled: 1 }]);

    const other = { id: left, name: 'Mira Lindqvist', email: left };
    body = { status: 'success', matches: [other], credits_consumed: 1 };
    await setRunStatus(warehouse, runId, 'running', undefined, { byOperator: true });
    expect(await enrichFirst(dependencies, runId)).toMatchObject({ kind: 'done' });
    expect(sent).toEqual([emails, [left]]);
    expect(await outcomesOf(warehouse, runId)).toEqual(['enriched', 'enriched']);
  },
);

it.each([
  ['a 422', 422, 'running'],
  ['a 402', 402, 'paused'],
  ['a 429', 429, 'running'],
])(
  '%s response that states credits makes its call and its rows unknown, and the call is not repeated',
  async (_, status, after) => {
    const runId = await runOf([`stated${status}@orbit.example`, `other${status}@orbit.example`]);
    let calls = 0;
    const dependencies = dependenciesOf(() => {
      calls += 1;
      const answer = readAnswer({ status: 'failed', credits_consumed: 2 }, status);
      return Promise.reject(mapFailure(answer, serviceOperations.bulkMatch));
    });
    await enrichFirst(dependencies, runId);
    expect(calls).toBe(1);
    expect((await getRun(warehouse, runId)).status).toBe(after);
    expect(await outcomesOf(warehouse, runId)).toEqual(['unknown', 'unknown']);
    const money = await warehouse.query`
      select status, credits_reserved::float8 as held, http_status from attempts where run_id = ${runId}`;
    expect(money).toEqual([{ status: 'unknown', held: 2, http_status: status }]);
    await warehouse.query`delete from rate_scopes`;
  },
);

it('a run of 100 people pauses after at most 50 calls if the service refuses every call', async () => {
  const runId = await runOf(Array.from({ length: 100 }, (_, index) => `person${index}@refused.example`));
  let calls = 0;
  const dependencies = {
    ...dependenciesOf(() => {
      calls += 1;
      throw new ServiceFailure('validation', { endpoint: serviceOperations.bulkMatch, httpStatus: 422 });
    }),
    queue: queueOf(10),
  };
  const batches = Array.from({ length: 10 }, (_, index) => index + 1);
  const open = await openBatches(dependencies, runId, batches);
  await Promise.all(open.map((batch) => enrichBatch(dependencies, batch, noSignal)));
  expect(calls).toBeLessThanOrEqual(50);
  expect(await getRun(warehouse, runId)).toMatchObject({
    status: 'paused',
    pauseReason: { type: 'service.refuses-everybody' },
  });
  expect(new Set(await outcomesOf(warehouse, runId))).toEqual(new Set([null]));
});

it.each([
  ['http://www.linkedin.com/in/Ada-Novak/', 'http://www.linkedin.com/in/Ada-Novak/'],
  ['https://de.linkedin.com/in/ida-novak?trk=x', 'https://linkedin.com/in/ida-novak'],
])('a call sends the profile URL %s as %s', async (written, sent) => {
  const row = { profileUrl: parseProfileUrl(written)!, contactId: written };
  const runId = await runningRunOf(warehouse, [row]);
  await warehouse.query`update run_rows set raw = ${JSON.stringify(['7', written])} where run_id = ${runId}`;
  const requests: unknown[] = [];
  const dependencies = dependenciesOf(async ({ details }) => {
    requests.push(...details.map(toDetail));
    return answerWith([null]);
  });
  await enrichFirst(dependencies, runId);
  expect(requests).toEqual([{ proflink_url: sent }]);
});

it('a run pauses at its end if the database has lost answers; the calls without one become unknown', async () => {
  const people = Array.from({ length: 12 }, () => inventPerson());
  const rows = people.map(({ row }) => row);
  const runId = await runningRunOf(warehouse, rows);
  const dependencies = dependenciesOf(async ({ details }) =>
    answerWith(details.map(({ email }) => people.find(({ row }) => row.email === email)!.person)),
  );
  const [open] = await openBatches(dependencies, runId, [2]);
  await enrichBatch(dependencies, open!, noSignal);
  // The database now is in the state of a replica that received the admission but not the answer.
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
