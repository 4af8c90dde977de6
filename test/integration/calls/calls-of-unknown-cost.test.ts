import { expect, it } from 'vitest';
import { markUnknown } from '../../../src/ledger/close-attempt.ts';
import { decideAttempts } from '../../../src/ledger/decide-attempt.ts';
import { readBulkAnswer } from '../../../src/service/answers/bulk-answer.ts';
import { operations } from '../../../src/service/client.ts';
import { warehouseOfFile } from '../../helpers/database/database.ts';
import { answerWith } from '../../helpers/warehouse/answers.ts';
import { callsByHand, somebody } from '../../helpers/warehouse/calls-by-hand.ts';
import { outcomesOf, reopenRows } from '../../helpers/warehouse/rows.ts';

const warehouse = await warehouseOfFile();
const { callInFlight, admitAgain, record, moneyOf, claimsOf } = callsByHand(warehouse);

it('an answer that is recorded at once, and again after a lost reply to COMMIT, is recorded once', async () => {
  const { row, person } = somebody();
  const call = await callInFlight([row]);
  await Promise.all([1, 2, 3, 4].map(() => record(call, answerWith([person]))));
  await record(call, answerWith([person]));
  expect(await moneyOf(call.runId)).toEqual([0, 1]);
  const entries = await warehouse.query`select kind from observations where attempt_id = ${call.attemptId}`;
  expect(entries).toEqual([{ kind: 'answer' }]);
});

it('people of two calls stay claimed until both calls are decided', async () => {
  const { row } = somebody();
  const first = await callInFlight([row]);
  await markUnknown(warehouse, first.attemptId, 'no answer');
  await reopenRows(warehouse, first.runId, [1]);
  const second = await admitAgain(first.runId);
  await decideAttempts(warehouse, [{ attemptId: first.attemptId, credits: '0' }]);
  expect(await claimsOf(first.runId)).toBe(1);
  await markUnknown(warehouse, second.attemptId, 'no answer');
  await decideAttempts(warehouse, [{ attemptId: second.attemptId, credits: '0' }]);
  expect(await claimsOf(first.runId)).toBe(0);
});

it('people of a decided unknown call are left to the next run', async () => {
  const call = await callInFlight([somebody().row]);
  await markUnknown(warehouse, call.attemptId, 'no answer');
  await decideAttempts(warehouse, [{ attemptId: call.attemptId, credits: '0' }]);
  expect(await reopenRows(warehouse, call.runId, [1])).toEqual([]);
});

it('a partial answer to an unknown call lets later runs ask for the people whom it does not have', async () => {
  const [known, other] = [somebody(), somebody()];
  const call = await callInFlight([known.row, other.row]);
  await markUnknown(warehouse, call.attemptId, 'its worker was lost');
  const body = {
    status: 'failed',
    error_code: 'INSUFFICIENT_CREDITS',
    matches: [known.person, null],
    credits_consumed: 1,
  };
  const { partial } = readBulkAnswer(
    { status: 200, headers: {}, body: Buffer.from(JSON.stringify(body)), receivedAt: 0 },
    operations.bulkMatch,
  );
  await record(call, answerWith([known.person, null], { partial }));
  expect(await outcomesOf(warehouse, call.runId)).toEqual(['enriched', 'unknown']);
  expect(await claimsOf(call.runId)).toBe(0);
  const { row } = other;
  const { runId } = await callInFlight([{ ...row, contactId: 'asked-again' }]);
  expect(await outcomesOf(warehouse, runId)).toEqual([null]);
});
