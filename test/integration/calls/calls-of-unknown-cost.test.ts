import { expect, it } from 'vitest';
import { markAttemptUnknown, closeWithoutCost } from '../../../src/ledger/close-attempt.ts';
import { decideAttempts } from '../../../src/ledger/decide-attempt.ts';
import { warehouseOfFile } from '../../helpers/database/database.ts';
import { answerWith } from '../../helpers/warehouse/answers.ts';
import { callsByHand, inventPerson } from '../../helpers/warehouse/calls-by-hand.ts';
import { outcomesOf, reopenRows } from '../../helpers/warehouse/rows.ts';
import { rejectPerson } from '../../../src/calls/batches/enrich-batch.ts';
import { bulkAnswer } from '../../helpers/servers/test-client.ts';

const warehouse = await warehouseOfFile();
const { callInFlight, admitAgain, record, attemptOf, moneyOf, claimsOf, lookupOf } = callsByHand(warehouse);
const refused = { status: 'refused', reason: 'refused', httpStatus: 422 } as const;

it('an answer is recorded once although the worker records it again after a lost reply to COMMIT', async () => {
  const { row, person } = inventPerson();
  const call = await callInFlight([row]);
  await Promise.all([1, 2, 3, 4].map(() => record(call, answerWith([person]))));
  await record(call, answerWith([person]));
  expect(await moneyOf(call.runId)).toEqual([0, 1]);
  const entries = await warehouse.query`select kind from observations where attempt_id = ${call.attemptId}`;
  expect(entries).toEqual([{ kind: 'answer' }]);
});

it('a person of two calls of unknown cost stays claimed until the operator has decided both costs', async () => {
  const { row } = inventPerson();
  const first = await callInFlight([row]);
  await markAttemptUnknown(warehouse, first.attemptId, 'no answer');
  await reopenRows(warehouse, first.runId, [1]);
  const second = await admitAgain(first.runId);
  await decideAttempts(warehouse, [{ attemptId: first.attemptId, credits: '0' }]);
  expect(await claimsOf(first.runId)).toBe(1);
  await markAttemptUnknown(warehouse, second.attemptId, 'no answer');
  await decideAttempts(warehouse, [{ attemptId: second.attemptId, credits: '0' }]);
  expect(await claimsOf(first.runId)).toBe(0);
});

it('a row of an unknown call is not reopened in its run after the operator has decided the cost', async () => {
  const call = await callInFlight([inventPerson().row]);
  await markAttemptUnknown(warehouse, call.attemptId, 'no answer');
  await decideAttempts(warehouse, [{ attemptId: call.attemptId, credits: '0' }]);
  expect(await reopenRows(warehouse, call.runId, [1])).toEqual([]);
});

it('a partial answer to a call of unknown cost lets the next run request the person it does not have', async () => {
  const [known, other] = [inventPerson(), inventPerson()];
  const call = await callInFlight([known.row, other.row]);
  await markAttemptUnknown(warehouse, call.attemptId, 'its worker was lost');
  const body = {
    status: 'failed',
    error_code: 'INSUFFICIENT_CREDITS',
    matches: [known.person, null],
    credits_consumed: 1,
  };
  const { partial } = bulkAnswer(body);
  await record(call, answerWith([known.person, null], { partial }));
  expect(await outcomesOf(warehouse, call.runId)).toEqual(['enriched', 'unknown']);
  expect(await claimsOf(call.runId)).toBe(0);
  const { row } = other;
  const { runId } = await callInFlight([{ ...row, contactId: 'asked-again' }]);
  expect(await outcomesOf(warehouse, runId)).toEqual([null]);
});

it('a call that the service refuses releases its credits once, and a new call can request its people', async () => {
  const { row } = inventPerson();
  const call = await callInFlight([row]);
  for (const _ of ['first', 'again']) await closeWithoutCost(warehouse, call.attemptId, refused);
  expect(await moneyOf(call.runId)).toEqual([0, 0]);
  expect(await attemptOf(call)).toMatchObject({ status: 'refused', http_status: 422 });
  expect(await outcomesOf(warehouse, call.runId)).toEqual([null]);
  expect((await admitAgain(call.runId)).people).toHaveLength(1);
});

it.each(['refused', 'released'] as const)(
  'a call of unknown cost that its worker later reports as %s costs nothing and releases its people',
  async (status) => {
    const { row } = inventPerson();
    const call = await callInFlight([row]);
    await markAttemptUnknown(warehouse, call.attemptId, 'the worker was lost');
    await closeWithoutCost(warehouse, call.attemptId, { status, reason: 'no cost' });
    expect(await attemptOf(call)).toMatchObject({ status, credits_settled: '0.000000' });
    expect(await moneyOf(call.runId)).toEqual([0, 0]);
    expect(await claimsOf(call.runId)).toBe(0);
    expect(await outcomesOf(warehouse, call.runId)).toEqual(['unknown']);
  },
);

it('a settled call keeps its status if a worker later reports it as released or as unknown', async () => {
  const { row, person } = inventPerson();
  const call = await callInFlight([row]);
  await record(call, answerWith([person]));
  await closeWithoutCost(warehouse, call.attemptId, { status: 'released', reason: 'late' });
  await markAttemptUnknown(warehouse, call.attemptId, 'late');
  expect(await attemptOf(call)).toMatchObject({ status: 'settled', credits_settled: '1.000000' });
  expect(await moneyOf(call.runId)).toEqual([0, 1]);
});

it('a person refused by the service gets the outcome rejected, counts as looked up, and is not claimed', async () => {
  const { row } = inventPerson();
  const call = await callInFlight([row]);
  await closeWithoutCost(warehouse, call.attemptId, refused);
  await rejectPerson(warehouse, {
    runId: call.runId,
    rowNumber: 1,
    reason: 'the email is not valid',
    asked: { reveal: [], waterfall: [], service: 'test' },
  });
  expect(await outcomesOf(warehouse, call.runId)).toEqual(['rejected']);
  expect(await claimsOf(call.runId)).toBe(0);
  expect(await lookupOf(row)).toMatchObject({ found: false });
});
