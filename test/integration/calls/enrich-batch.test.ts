import { afterAll, beforeAll, expect, it } from 'vitest';
import type { AttemptDependencies } from '../../../src/calls/attempt-call.ts';
import { enrichBatch } from '../../../src/calls/enrich-batch.ts';
import { FailureStreak } from '../../../src/calls/failure-streak.ts';
import { openBatches } from '../../../src/calls/open-batches.ts';
import type { Warehouse } from '../../../src/db/database.ts';
import { wholeCredits } from '../../../src/domain/money/decimal.ts';
import { storeDeliveries } from '../../../src/late-results/deliveries.ts';
import { openAdmissions } from '../../../src/ledger/admit.ts';
import { CallQueue } from '../../../src/ledger/call-queue.ts';
import { hashToken } from '../../../src/ledger/webhook-token.ts';
import { askedBy } from '../../../src/runs/pages/pages.ts';
import { planRows } from '../../../src/runs/planning/plan-rows.ts';
import { getRun, setRunStatus } from '../../../src/runs/runs.ts';
import type { BulkAnswer, BulkRequest } from '../../../src/service/client.ts';
import { openTestWarehouse } from '../../helpers/database.ts';
import { stagedRun, testSpec } from '../../helpers/rows.ts';

let warehouse: Warehouse;

beforeAll(async () => {
  warehouse = await openTestWarehouse();
});

afterAll(() => warehouse.close());

/** What a worker needs for calls to a service that answers as given. */
function dependenciesOf(answer: (request: BulkRequest) => Promise<Partial<BulkAnswer>>): AttemptDependencies {
  const limits = { service: 'test', rateLimits: [], budgets: {} };
  const queue = new CallQueue({
    concurrency: 1,
    freeSlots: () => Promise.resolve({ slots: 1, wait: undefined }),
    patienceMilliseconds: 1_000,
  });
  return {
    warehouse,
    queue,
    limits,
    admit: openAdmissions(warehouse.database, limits),
    patienceMilliseconds: 20,
    pollAfterSeconds: 900,
    client: { bulkMatch: answer },
    streak: new FailureStreak(),
    log: { debug: () => {}, warn: () => {} },
    webhookUrl: (token: string) => token,
    callTimeoutSeconds: 5,
    onBudgetAlarm: () => {},
  } as unknown as AttemptDependencies;
}

it('a call that is billed above its reservation pauses its run although its worker stops meanwhile', async () => {
  const spec = testSpec();
  const { runId, options } = await stagedRun(
    warehouse,
    [{ keys: ['email:a@orbit.example'], email: 'a@orbit.example', contactId: 'a' }],
    { ...spec, options: { ...spec.options, reveal: ['phone'] } },
  );
  await planRows(warehouse, runId, askedBy(options));
  await setRunStatus(warehouse, runId, 'running', undefined);
  const stop = new AbortController();
  const dependencies = dependenciesOf(async ({ webhookUrl }) => {
    const body = Buffer.from('{"people": []}');
    await storeDeliveries(warehouse, [
      { tokenHash: hashToken(webhookUrl!), body, contentEncoding: undefined },
    ]);
    stop.abort(new Error('the worker stops'));
    return {
      httpStatus: 200,
      matches: [null],
      unreadableMatches: [],
      unreadFields: [],
      rateLimits: [],
      creditsConsumed: wholeCredits(100),
      raw: Buffer.from('{}'),
    };
  });
  const [open] = await openBatches(dependencies, runId, [1]);
  await expect(enrichBatch(dependencies, open!, stop.signal)).rejects.toThrow('the worker stops');
  expect(await getRun(warehouse, runId)).toMatchObject({
    status: 'paused',
    pauseReason: { type: 'service.overbilled' },
  });
});
