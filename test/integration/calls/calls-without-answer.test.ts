import { expect, it } from 'vitest';
import { rejectPerson } from '../../../src/calls/batches/enrich-batch.ts';
import { closeWithoutCost, markUnknown } from '../../../src/ledger/close-attempt.ts';
import { warehouseOfFile } from '../../helpers/database/database.ts';
import { answerWith } from '../../helpers/warehouse/answers.ts';
import { callsByHand, somebody } from '../../helpers/warehouse/calls-by-hand.ts';
import { outcomesOf } from '../../helpers/warehouse/rows.ts';

const refused = { status: 'refused', reason: 'refused', httpStatus: 422 } as const;
const warehouse = await warehouseOfFile();
const { callInFlight, admitAgain, record, attemptOf, moneyOf, claimsOf, lookupOf } = callsByHand(warehouse);

it('a refused call releases its credits once, and its people can be admitted again', async () => {
  const { row } = somebody();
  const call = await callInFlight([row]);
  for (const _ of ['first', 'again']) await closeWithoutCost(warehouse, call.attemptId, refused);
  expect(await moneyOf(call.runId)).toEqual([0, 0]);
  expect(await attemptOf(call)).toMatchObject({ status: 'refused', http_status: 422 });
  expect(await outcomesOf(warehouse, call.runId)).toEqual([null]);
  expect((await admitAgain(call.runId)).people).toHaveLength(1);
});

it.each(['refused', 'released'] as const)(
  'an unknown call that its first worker finds %s frees its credits and people for later runs',
  async (status) => {
    const { row } = somebody();
    const call = await callInFlight([row]);
    await markUnknown(warehouse, call.attemptId, 'the worker was lost');
    await closeWithoutCost(warehouse, call.attemptId, { status, reason: 'no cost' });
    expect(await attemptOf(call)).toMatchObject({ status, credits_settled: '0.000000' });
    expect(await moneyOf(call.runId)).toEqual([0, 0]);
    expect(await claimsOf(call.runId)).toBe(0);
    expect(await outcomesOf(warehouse, call.runId)).toEqual(['unknown']);
  },
);

it('a settled call cannot be released or made unknown', async () => {
  const { row, person } = somebody();
  const call = await callInFlight([row]);
  await record(call, answerWith([person]));
  await closeWithoutCost(warehouse, call.attemptId, { status: 'released', reason: 'late' });
  await markUnknown(warehouse, call.attemptId, 'late');
  expect(await attemptOf(call)).toMatchObject({ status: 'settled', credits_settled: '1.000000' });
  expect(await moneyOf(call.runId)).toEqual([0, 1]);
});

it('a person whom the service refuses is rejected, free for other runs, and in the lookup history', async () => {
  const { row } = somebody();
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
  expect(await lookupOf(row.keys[0]!)).toMatchObject({ found: false });
});
