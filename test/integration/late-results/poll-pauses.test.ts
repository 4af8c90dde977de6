import { afterAll, expect, it } from 'vitest';
import { pollWithinLimits, syncLateResults } from '../../../src/late-results/sync-late-results.ts';
import { acquireSlot, webhookResultScope } from '../../../src/ledger/rate-windows.ts';
import { defaultApiKey } from '../../../src/sandbox/server.ts';
import { startSandbox } from '../../../src/sandbox/server.ts';
import { warehouseOfFile } from '../../helpers/database/database.ts';
import { httpAnswer, startScriptedServer } from '../../helpers/servers/scripted-server.ts';
import { answeredCall, type PhonesCall, pollsBy } from '../../helpers/warehouse/late-calls.ts';
import { testClient } from '../../helpers/servers/test-client.ts';

const credential = { kind: 'api-key', value: defaultApiKey } as const;
const warehouse = await warehouseOfFile();

const sandbox = await startSandbox();
const client = testClient({ credential, baseUrl: sandbox.baseUrl });

afterAll(async () => {
  await client.close();
  await sandbox.close();
});

const onePollAnHour = [{ calls: 1, seconds: 3_600 }];

/** Makes the polls of a run due and syncs its late results once. */
async function look({ runId }: PhonesCall, of = client, rateLimits = onePollAnHour): Promise<void> {
  await warehouse.query`update attempts set next_poll_at = clock_timestamp() where run_id = ${runId}`;
  await syncLateResults(pollsBy(warehouse, of, rateLimits), { runId }, AbortSignal.timeout(120_000));
}

async function secondsToNextPoll({ attemptId }: PhonesCall): Promise<number> {
  const rows = await warehouse.query<{ seconds: number }>`
    select extract(epoch from next_poll_at - clock_timestamp())::float8 as seconds
    from attempts where attempt_id = ${attemptId}`;
  return rows[0]!.seconds;
}

it('the pause before the next poll of a call does not grow while polls find no free rate slot', async () => {
  sandbox.faults.set({ rules: [{ path: '/webhook_result', status: 503 }] });
  const call = await answeredCall(warehouse);
  const other = { service: 'test', scope: webhookResultScope, callId: 'another', deadlineSeconds: 30 };
  await warehouse.database
    .transaction()
    .execute((transaction) => acquireSlot(transaction, other, onePollAnHour));
  for (const _ of Array.from({ length: 8 })) await look(call);

  await warehouse.query`delete from rate_calls`;
  await look(call);
  expect(await secondsToNextPoll(call)).toBeGreaterThan(50);
  expect(await secondsToNextPoll(call)).toBeLessThanOrEqual(60);
});

it('polls of a call are 30 seconds to an hour apart, whatever retry-after the service sends', async () => {
  let answer = httpAnswer(503, '');
  const server = await startScriptedServer((socket) => void socket.end(answer));
  const absurd = testClient({ credential, baseUrl: server.baseUrl });
  const call = await answeredCall(warehouse);
  await warehouse.query`
    update attempts set awaited_until = awaited_until + interval '1 day' where run_id = ${call.runId}`;
  const pauses: Record<string, number> = {};
  const times = ['0', '-5', '0.2', '1.5', 'soon', '', '99999999999', 'Fri, 01 Jan 2999 00:00:00 GMT'];
  for (const status of [404, 429, 503])
    for (const stated of times) {
      const body = status === 404 ? { error_code: 'result_pending' } : {};
      answer = httpAnswer(status, JSON.stringify(body), { 'retry-after': stated, connection: 'close' });
      await warehouse.query`delete from rate_scopes`;
      await look(call, absurd, []);
      pauses[`${status} ${stated}`] = await secondsToNextPoll(call);
    }
  await absurd.close();
  await server.close();
  const outside = Object.entries(pauses).filter(([, seconds]) => seconds < 25 || seconds > 3_600);
  expect([server.requests.length, outside]).toEqual([24, []]);
});

it('a poll with the status success but no result is repeated until the deadline', async () => {
  const body = JSON.stringify({ webhook_status: 'success', webhook_result: null });
  const server = await startScriptedServer((socket) =>
    socket.end(httpAnswer(200, body, { connection: 'close' })),
  );
  const early = testClient({ credential, baseUrl: server.baseUrl });
  const call = await answeredCall(warehouse);
  await look(call, early, []);
  expect(await secondsToNextPoll(call)).toBeGreaterThan(50);

  await warehouse.query`update attempts set awaited_until = clock_timestamp() where run_id = ${call.runId}`;
  await look(call, early, []);
  const rows = await warehouse.query`
    select status, next_poll_at, reason from attempts where run_id = ${call.runId}`;
  await early.close();
  await server.close();
  const reason = 'the poll has the status success and no result; the late results did not come';
  expect(rows).toEqual([{ status: 'unknown', next_poll_at: null, reason }]);
});

it('polls stop after the last call that the service reports as left, so none is refused', async () => {
  await warehouse.query`delete from rate_calls; delete from rate_scopes; delete from rate_reports`;
  const limited = await startSandbox({ rateLimits: '10/hour' });
  limited.faults.set({ rules: [{ path: '/webhook_result', used_by_others: 7 }] });
  const ofLimited = testClient({ credential, baseUrl: limited.baseUrl });
  // Without own rate limits, only the rate reports of the service hold a poll back.
  const dependencies = pollsBy(warehouse, ofLimited);
  const polls: string[] = [];
  for (let poll = 1; poll <= 4; poll += 1) {
    const polled = await pollWithinLimits(dependencies, '77', AbortSignal.timeout(120_000));
    polls.push(polled.kind === 'full' ? polled.reason : polled.answer.state);
  }
  const bill = limited.log.bill();
  await ofLimited.close();
  await limited.close();
  const full = expect.stringContaining('no calls left in its window of 1h');
  expect(polls).toEqual(['gone', 'gone', 'gone', full]);
  expect(bill).toMatchObject({ calls: 3, refused: 0 });
});
