import { expect, it } from 'vitest';
import { type AttemptDependencies, CallStreaks } from '../../../src/calls/attempt-call.ts';
import { enrichBatch, openBatches } from '../../../src/calls/batches/enrich-batch.ts';
import { creditsFromWhole } from '../../../src/domain/money/decimal.ts';
import type { RunOptions } from '../../../src/domain/runs/run-options.ts';
import { storeDeliveries } from '../../../src/late-results/deliveries.ts';
import { CallQueue } from '../../../src/ledger/call-queue.ts';
import type { Logger } from '../../../src/telemetry/log.ts';
import { hashToken, createAdmission } from '../../../src/ledger/admit.ts';
import { parseProfileUrl } from '../../../src/domain/identity/values/profile-url.ts';
import {
  toDetail,
  type BulkAnswer,
  type BulkRequest,
  serviceOperations,
} from '../../../src/service/client.ts';
import { lookupRequestOf } from '../../../src/runs/pages.ts';
import { planRows } from '../../../src/runs/planning/plan-rows.ts';
import { getRun, setRunStatus } from '../../../src/runs/runs.ts';
import { readBulkAnswer } from '../../../src/service/answers/bulk-answer.ts';
import { reconcileContacts } from '../../../src/runs/reconcile-contacts.ts';
import { ServiceFailure } from '../../../src/service/failures/failure.ts';
import { mapFailure } from '../../../src/service/failures/map-failure.ts';
import { finishRun } from '../../../src/runs/finish-run.ts';
import { inventPerson } from '../../helpers/warehouse/calls-by-hand.ts';
import { warehouseOfFile } from '../../helpers/database/database.ts';
import { outcomesOf, stagedRun, testSpec } from '../../helpers/warehouse/rows.ts';
import { answerWith } from '../../helpers/warehouse/answers.ts';

const warehouse = await warehouseOfFile();

const limits = { service: 'test', rateLimits: [], budgets: {} };

/** What a worker needs for calls to a service that answers as given. */
function dependenciesOf(answer: (request: BulkRequest) => Promise<Partial<BulkAnswer>>): AttemptDependencies {
  return {
    warehouse,
    queue: new CallQueue({
      concurrency: 1,
      freeSlots: () => Promise.resolve({ slots: 1, wait: undefined }),
      patienceMilliseconds: 1_000,
    }),
    limits,
    admit: createAdmission(warehouse.database, limits),
    patienceMilliseconds: 20,
    pollAfterSeconds: 900,
    client: { bulkMatch: answer },
    streaks: new CallStreaks(),
    log: { debug: () => {}, warn: () => {}, error: () => {} } as unknown as Logger,
    webhookUrl: (token: string) => token,
    callTimeoutSeconds: 5,
    onBudgetAlarm: () => {},
  } as unknown as AttemptDependencies;
}

/** A running run of these people. */
async function runOf(emails: readonly string[], options: Partial<RunOptions> = {}): Promise<string> {
  const spec = testSpec();
  const run = await stagedRun(
    warehouse,
    emails.map((email) => ({ keys: [`email:${email}`], email, contactId: email })),
    { ...spec, options: { ...spec.options, ...options } },
  );
  await planRows(warehouse, run.runId, lookupRequestOf(run.options));
  await reconcileContacts(warehouse, run.runId, new AbortController().signal);
  await setRunStatus(warehouse, run.runId, 'running', undefined);
  return run.runId;
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
  const [open] = await openBatches(dependencies, runId, [1]);
  const reason = expect.stringContaining('this run belongs to the service') as string;
  expect(await enrichBatch(dependencies, open!, new AbortController().signal)).toMatchObject({
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
  const [open] = await openBatches(dependencies, runId, [1]);
  const admit: AttemptDependencies['admit'] = async (request) => {
    expect(await dependencies.admit(request)).toMatchObject({ kind: 'admitted' });
    throw new Error('Connection terminated unexpectedly');
  };
  const unconfirmed = enrichBatch({ ...dependencies, admit }, open!, new AbortController().signal);
  await expect(unconfirmed).rejects.toThrow('Connection terminated unexpectedly');
  const rows = await warehouse.query`
    select status, credits_settled::text as settled,
      exists (select from rate_calls where call_id = attempt_id) as holds_slot
    from attempts where run_id = ${runId}`;
  expect(rows).toEqual([{ status: 'released', settled: '0.000000', holds_slot: false }]);
});

/** The answer to a bulk call with this body. */
function answerOf(body: object): BulkAnswer {
  const raw = Buffer.from(JSON.stringify(body));
  return readBulkAnswer({ status: 200, headers: {}, body: raw, receivedAt: 0 }, serviceOperations.bulkMatch);
}

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
    let body: object = {
      ...error,
      matches: [{ id: known, name: 'Ada Holm', email: known }, null],
      credits_consumed: 1,
    };
    const dependencies = dependenciesOf(({ details }) => {
      sent.push(details.map(({ email }) => email!));
      return Promise.resolve(answerOf(body));
    });
    const enrich = async () => {
      const [open] = await openBatches(dependencies, runId, [1]);
      return enrichBatch(dependencies, open!, new AbortController().signal);
    };
    expect(await enrich()).toMatchObject({ kind: 'stopped', pauseReason: { type } });
    expect(await getRun(warehouse, runId)).toMatchObject({ status: 'paused', pauseReason: { type } });
    expect(await outcomesOf(warehouse, runId)).toEqual(['enriched', null]);
    const keys = [`email:${left}`];
    const hashes = `select key_hash(k, 'test') from unnest($1::text[]) k`;
    const fresh = `select from lookup_history where key_hash = any(${hashes})`;
    expect((await warehouse.pool.query(fresh, [keys])).rowCount).toBe(0);
    const money = 'select status, credits_settled::float8 as settled from attempts where run_id = $1';
    expect((await warehouse.pool.query(money, [runId])).rows).toEqual([{ status: 'settled', settled: 1 }]);

    body = {
      status: 'success',
      matches: [{ id: left, name: 'Mira Lindqvist', email: left }],
      credits_consumed: 1,
    };
    await setRunStatus(warehouse, runId, 'running', undefined, { byOperator: true });
    expect(await enrich()).toMatchObject({ kind: 'done' });
    expect(sent).toEqual([emails, [left]]);
    expect(await outcomesOf(warehouse, runId)).toEqual(['enriched', 'enriched']);
  },
);

/** Enriches ten batches of ten people, all in flight at once. @returns the run, its calls, and warnings in the log */
async function enrichTenBatches(
  name: string,
  answer: (emails: readonly string[]) => Partial<BulkAnswer> | Promise<Partial<BulkAnswer>>,
): Promise<{ readonly runId: string; readonly calls: number; readonly warnings: readonly string[] }> {
  const runId = await runOf(Array.from({ length: 100 }, (_, index) => `person${index}@${name}.example`));
  let calls = 0;
  const warnings: string[] = [];
  const queue = new CallQueue({
    concurrency: 10,
    freeSlots: () => Promise.resolve({ slots: 10, wait: undefined }),
    patienceMilliseconds: 1_000,
  });
  const dependencies: AttemptDependencies = {
    ...dependenciesOf(async ({ details }) => {
      calls += 1;
      return answer(details.map(({ email }) => email!));
    }),
    queue,
    log: {
      debug: () => {},
      warn: (_: object, message: string) => warnings.push(message),
    } as unknown as Logger,
  };
  const batches = Array.from({ length: 10 }, (_, index) => index + 1);
  const open = await openBatches(dependencies, runId, batches);
  const { signal } = new AbortController();
  await Promise.all(open.map((batch) => enrichBatch(dependencies, batch, signal)));
  return { runId, calls, warnings };
}

function refuse(): never {
  throw new ServiceFailure('validation', { endpoint: serviceOperations.bulkMatch, httpStatus: 422 });
}

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
      const body = Buffer.from(JSON.stringify({ status: 'failed', credits_consumed: 2 }));
      return Promise.reject(
        mapFailure({ status, headers: {}, body, receivedAt: 0 }, serviceOperations.bulkMatch),
      );
    });
    const [open] = await openBatches(dependencies, runId, [1]);
    await enrichBatch(dependencies, open!, new AbortController().signal);
    expect(calls).toBe(1);
    expect((await getRun(warehouse, runId)).status).toBe(after);
    expect(await outcomesOf(warehouse, runId)).toEqual(['unknown', 'unknown']);
    const money =
      'select status, credits_reserved::float8 as held, http_status from attempts where run_id = $1';
    expect((await warehouse.pool.query(money, [runId])).rows).toEqual([
      { status: 'unknown', held: 2, http_status: status },
    ]);
    await warehouse.query`delete from rate_scopes`;
  },
);

it('a run of 100 people pauses after at most 50 calls if the service refuses every call', async () => {
  const { runId, calls } = await enrichTenBatches('refused', refuse);
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
  const profileUrl = parseProfileUrl(written)!;
  const keys = [`profile:${profileUrl}`];
  const run = await stagedRun(warehouse, [{ keys, profileUrl, contactId: written }]);
  await warehouse.query`update run_rows set raw = ${JSON.stringify(['7', written])} where run_id = ${run.runId}`;
  await planRows(warehouse, run.runId, lookupRequestOf(run.options));
  await setRunStatus(warehouse, run.runId, 'running', undefined);
  const requests: unknown[] = [];
  const dependencies = dependenciesOf(async ({ details }) => {
    requests.push(...details.map(toDetail));
    return answerWith([null]);
  });
  const [open] = await openBatches(dependencies, run.runId, [1]);
  await enrichBatch(dependencies, open!, new AbortController().signal);
  expect(requests).toEqual([{ proflink_url: sent }]);
});

it('a run pauses at its end if the database has lost answers; the calls without one become unknown', async () => {
  const people = Array.from({ length: 12 }, () => inventPerson());
  const rows = people.map(({ row }) => row);
  const { runId, options } = await stagedRun(warehouse, rows, testSpec());
  await planRows(warehouse, runId, lookupRequestOf(options));
  await setRunStatus(warehouse, runId, 'running', undefined);
  const dependencies = dependenciesOf(async ({ details }) =>
    answerWith(details.map(({ email }) => people.find(({ row }) => row.email === email)!.person)),
  );
  const [open] = await openBatches(dependencies, runId, [2]);
  await enrichBatch(dependencies, open!, new AbortController().signal);
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
