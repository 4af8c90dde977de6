import { afterAll, beforeAll, expect, it } from 'vitest';
import { syncLateResults } from '../../../src/late-results/drain-deliveries.ts';
import { acquireSlot, webhookResultScope } from '../../../src/ledger/rate-windows.ts';
import { defaultApiKey, startSandbox, type RunningSandbox } from '../../../src/sandbox/server/server.ts';
import { createServiceClient, type ServiceClient } from '../../../src/service/client.ts';
import { openTestWarehouse, type TestWarehouse } from '../../helpers/database.ts';
import { callWithPhones, recordPhonesAnswer, type PhonesCall } from '../../helpers/late-calls.ts';

let warehouse: TestWarehouse;
let sandbox: RunningSandbox;
let client: ServiceClient;

beforeAll(async () => {
  warehouse = await openTestWarehouse();
  sandbox = await startSandbox();
  client = createServiceClient({
    baseUrl: sandbox.baseUrl,
    credential: { kind: 'api-key', value: defaultApiKey },
    callTimeoutSeconds: 5,
    pollPath: '/webhook_result/{request_id}',
  });
});

afterAll(async () => {
  await client.close();
  await sandbox.close();
  await warehouse.drop();
});

const onePollAnHour = [{ calls: 1, seconds: 3_600 }];

/** The worker looks after the late results of a run whose polls are due; the service is not well. */
async function look({ runId }: PhonesCall): Promise<void> {
  await warehouse.pool.query('update attempts set next_poll_at = clock_timestamp() where run_id = $1', [
    runId,
  ]);
  await syncLateResults(
    {
      warehouse,
      service: 'test',
      client,
      rateLimits: onePollAnHour,
      callTimeoutSeconds: 5,
      pollAfterSeconds: 60,
    },
    { runId },
    AbortSignal.timeout(20_000),
  );
}

async function secondsToNextPoll({ attemptId }: PhonesCall): Promise<number> {
  const { rows } = await warehouse.pool.query<{ seconds: number }>(
    'select extract(epoch from next_poll_at - clock_timestamp())::float8 as seconds from attempts where ' +
      'attempt_id = $1',
    [attemptId],
  );
  return rows[0]!.seconds;
}

it('pauses between polls grow by polls that were made, not by polls without a free slot', async () => {
  sandbox.faults.set({ rules: [{ path: '/webhook_result', status: 503, billed: false }] });
  const call = await callWithPhones(warehouse);
  await recordPhonesAnswer(warehouse, call);
  const other = { service: 'test', scope: webhookResultScope, callId: 'another', deadlineSeconds: 30 };
  await warehouse.database
    .transaction()
    .execute((transaction) => acquireSlot(transaction, other, onePollAnHour));
  for (const _ of Array.from({ length: 8 })) await look(call);

  await warehouse.pool.query('delete from rate_calls');
  await look(call);
  expect(await secondsToNextPoll(call)).toBeGreaterThan(50);
  expect(await secondsToNextPoll(call)).toBeLessThanOrEqual(60);
});
