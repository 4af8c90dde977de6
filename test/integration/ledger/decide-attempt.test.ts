import { expect, it } from 'vitest';
import { decideAttempts, getAttempt, listAttempts } from '../../../src/ledger/decide-attempt.ts';
import { markAttemptUnknown } from '../../../src/ledger/close-attempt.ts';
import { warehouseOfFile } from '../../helpers/database/database.ts';
import {
  answeredCall,
  readCallCredits,
  callWithPhones,
  deliverTo,
  phonesBody,
} from '../../helpers/warehouse/late-calls.ts';
import { callsByHand } from '../../helpers/warehouse/calls-by-hand.ts';
import { untilLockAwaited } from '../../helpers/database/contents.ts';

const warehouse = await warehouseOfFile();

const { moneyOf } = callsByHand(warehouse);

it('decideAttempts() refuses more credits than the call has reserved, and changes no budget', async () => {
  const { runId, attemptId } = await callWithPhones(warehouse);
  await markAttemptUnknown(warehouse, attemptId, 'by a test');
  await expect(decideAttempts(warehouse, [{ attemptId, credits: '99' }])).rejects.toMatchObject({
    type: 'attempt.more-than-held',
    message: expect.stringContaining('27 that are held'),
    exitCode: 2,
  });
  expect(await moneyOf(runId)).toEqual([27, 0]);
});

it('decideAttempts() can correct a decision on an unknown call, in the attempt and in its budgets', async () => {
  const { runId, attemptId } = await callWithPhones(warehouse);
  await markAttemptUnknown(warehouse, attemptId, 'by a test');
  await decideAttempts(warehouse, [{ attemptId, credits: '20' }]);
  await decideAttempts(warehouse, [{ attemptId, credits: '2.5', by: 'lea', reason: 'ticket 17' }]);
  expect(await moneyOf(runId)).toEqual([0, 2.5]);
  const rows = await warehouse.query`
    select credits_settled::float8 as settled, reason from attempts where attempt_id = ${attemptId}`;
  expect(rows).toEqual([
    {
      settled: 2.5,
      reason: 'by a test; decided by the operator: 20 credits; corrected by lea: 2.5 credits (ticket 17)',
    },
  ]);
});

it('decideAttempts() refuses to correct a decision on a call that has an answer', async () => {
  const call = await answeredCall(warehouse);
  await decideAttempts(warehouse, [{ attemptId: call.attemptId, credits: '20' }]);
  await expect(
    decideAttempts(warehouse, [{ attemptId: call.attemptId, credits: '2' }]),
  ).rejects.toMatchObject({
    type: 'attempt.closed',
  });
});

it.each(['0', '5'])(
  'the price of a delivery is settled whether it arrives before or after a decision of %s credits',
  async (credits) => {
    for (const isFirst of [true, false]) {
      const call = await callWithPhones(warehouse);
      const decide = () => decideAttempts(warehouse, [{ attemptId: call.attemptId, credits }]);
      await markAttemptUnknown(warehouse, call.attemptId, 'by a test');
      if (!isFirst) await decide();
      await deliverTo(warehouse, call, phonesBody(call.ids, 24));
      if (isFirst) await decide();
      expect(await readCallCredits(warehouse, call)).toMatchObject({ status: 'settled', settled: 24 });
      expect(await moneyOf(call.runId)).toEqual([0, 24]);
      expect(await getAttempt(warehouse, call.attemptId)).toMatchObject({ credits_stated: '24' });
    }
  },
);

it('a decision of 0 credits on a call settles the prices of its answer and of its phones so far', async () => {
  const call = await answeredCall(warehouse);
  expect(await getAttempt(warehouse, call.attemptId)).toMatchObject({ credits_stated: '3' });
  await deliverTo(warehouse, call, phonesBody([call.ids[0]!], 8));
  await decideAttempts(warehouse, [{ attemptId: call.attemptId, credits: '0' }]);
  expect(await readCallCredits(warehouse, call)).toMatchObject({ settled: 11 });
});

it('a delivery after a decision that includes the price of the answer does not settle this price twice', async () => {
  const call = await answeredCall(warehouse);
  await decideAttempts(warehouse, [{ attemptId: call.attemptId, credits: '3' }]);
  await deliverTo(warehouse, call, phonesBody(call.ids, 27));
  expect(await moneyOf(call.runId)).toEqual([0, 27]);
  expect(await getAttempt(warehouse, call.attemptId)).toMatchObject({
    reason: 'decided by the operator: 3 credits; billed more than reserved',
  });
});

it('a delivery after a decision adds its own price to the decided credits', async () => {
  const call = await answeredCall(warehouse);
  await decideAttempts(warehouse, [{ attemptId: call.attemptId, credits: '3' }]);
  await deliverTo(warehouse, call, phonesBody(call.ids, 24));
  expect(await moneyOf(call.runId)).toEqual([0, 27]);
});

it('getAttempt() finds an attempt by its id or by at least its first four characters', async () => {
  const { attemptId } = await callWithPhones(warehouse);
  for (const named of [attemptId, attemptId.slice(0, 8), attemptId.slice(0, 35), `${attemptId.slice(0, 4)}…`])
    expect(await getAttempt(warehouse, named)).toMatchObject({ attempt_id: attemptId });
  for (const named of [attemptId.slice(0, 3), attemptId.slice(1), '%%%%'])
    await expect(getAttempt(warehouse, named)).rejects.toMatchObject({ type: 'attempt.unknown' });
});

it('getAttempt() refuses the first characters of an id if two attempts have them', async () => {
  const calls = [await callWithPhones(warehouse), await callWithPhones(warehouse)];
  const ids = calls.map(({ attemptId }) => attemptId);
  await warehouse.query`delete from attempt_people where attempt_id = any(${ids})`;
  await warehouse.query`
    update attempts set attempt_id = 'feed' || substr(attempt_id, 5) where attempt_id = any(${ids})`;
  await expect(getAttempt(warehouse, 'feed')).rejects.toMatchObject({
    type: 'attempt.ambiguous',
    exitCode: 2,
  });
});

it('listAttempts() lists a call with overdue late results until the operator decides its cost', async () => {
  const call = await answeredCall(warehouse);
  const overdue = async (): Promise<readonly string[]> =>
    (await listAttempts(warehouse, { runId: call.runId, status: 'overdue' })).map((each) => each.attempt_id);
  expect(await overdue()).toEqual([]);
  await warehouse.query`update attempts set awaited_until = now() where run_id = ${call.runId}`;
  expect(await overdue()).toEqual([call.attemptId]);
  await decideAttempts(warehouse, [{ attemptId: call.attemptId, credits: '0' }]);
  expect(await overdue()).toEqual([]);
});

it('decideAttempts() and the recording of answers do not deadlock', async () => {
  const calls = [await callWithPhones(warehouse), await callWithPhones(warehouse)];
  const [first, last] = calls.toSorted((one, other) => (one.attemptId < other.attemptId ? -1 : 1));
  for (const { attemptId } of calls) await markAttemptUnknown(warehouse, attemptId, 'by a test');
  await warehouse.query`
    insert into claims (service, identity_key, run_id, row_number) select 'test', keys[1], run_id, row_number
    from run_rows where run_id = ${last!.runId}`;
  const recording = await warehouse.pool.connect();
  await recording.query('begin');
  await recording.query('delete from claims where run_id = $1', [last!.runId]);
  const decisions = calls.map(({ attemptId }) => ({ attemptId, credits: '0' }));
  const deciding = decideAttempts(warehouse, decisions);
  // The decision now waits for the lock on the claims.
  await untilLockAwaited(warehouse);
  await recording.query('update budgets set settled = settled + 1 where budget_id = $1', [
    `run:${first!.runId}`,
  ]);
  await recording.query('commit');
  recording.release();
  await expect(deciding).resolves.toBeUndefined();
});
