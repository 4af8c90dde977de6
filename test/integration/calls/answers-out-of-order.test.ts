import { expect, it } from 'vitest';
import { markAttemptUnknown } from '../../../src/ledger/close-attempt.ts';
import { decideAttempts } from '../../../src/ledger/decide-attempt.ts';
import { getRun } from '../../../src/runs/runs.ts';
import { warehouseOfFile } from '../../helpers/database/database.ts';
import { answerWith } from '../../helpers/warehouse/answers.ts';
import { callsByHand, inventPerson } from '../../helpers/warehouse/calls-by-hand.ts';
import { outcomesOf, limitBudget } from '../../helpers/warehouse/rows.ts';

const warehouse = await warehouseOfFile({ keepsPlans: true });
const { callInFlight, record, attemptOf, moneyOf, contact, lookupOf } = callsByHand(warehouse);

it('an answer after the operator set the cost of its call to 0 pauses the run if it exceeds a budget', async () => {
  const { row, person } = inventPerson();
  const call = await callInFlight([row]);
  await markAttemptUnknown(warehouse, call.attemptId, 'no answer');
  await decideAttempts(warehouse, [{ attemptId: call.attemptId, credits: '0' }]);
  await limitBudget(warehouse, call.runId, 0);
  await record(call, answerWith([person]));
  expect(await moneyOf(call.runId)).toEqual([0, 1]);
  expect(await getRun(warehouse, call.runId)).toMatchObject({
    status: 'paused',
    pauseReason: { type: 'service.overbilled' },
  });
});

it('an answer after the operator set the cost of its call to 0 settles the credits that it states', async () => {
  const { row, person } = inventPerson();
  const call = await callInFlight([row]);
  await markAttemptUnknown(warehouse, call.attemptId, 'no answer');
  await decideAttempts(warehouse, [{ attemptId: call.attemptId, credits: '0' }]);
  await record(call, answerWith([person], { requestId: '1', phoneEnrichment: { status: 'skipped' } }));
  expect(await attemptOf(call)).toMatchObject({
    status: 'settled',
    credits_settled: '1.000000',
    request_id: '1',
    found_people: 1,
    phones_with_earlier: true,
  });
  expect(await outcomesOf(warehouse, call.runId)).toEqual(['enriched']);
  expect(await moneyOf(call.runId)).toEqual([0, 1]);
});

it("an older call's answer, recorded after a newer call's, changes neither contact nor lookup history", async () => {
  const { row, person } = inventPerson();
  const older = await callInFlight([row]);
  await markAttemptUnknown(warehouse, older.attemptId, 'no answer within 30 s');
  // The operator let the next run request the person again.
  await warehouse.query`delete from claims where run_id = ${older.runId}`;
  const newer = await callInFlight([row]);
  await record(newer, answerWith([{ ...person, title: 'Director' }]));

  await record(older, answerWith([person]));

  expect(await outcomesOf(warehouse, older.runId)).toEqual(['enriched']);
  expect(await contact(row.contactId!)).toMatchObject({ title: 'Director', run_id: newer.runId });
  expect(await lookupOf(row)).toMatchObject({ run_id: newer.runId });
});

it('a contact keeps a title that a newer answer lacks; e-mail and e-mail status are replaced together', async () => {
  const { row, person } = inventPerson();
  await record(await callInFlight([row]), answerWith([person]));
  await warehouse.query`delete from lookup_history`;
  await record(
    await callInFlight([row]),
    answerWith([{ ...person, email_status: undefined, title: null, organization: { name: 'Fjord' } }]),
  );
  expect(await contact(row.contactId!)).toMatchObject({
    title: 'Engineer',
    email: person.email,
    email_status: null,
    organization_name: 'Fjord',
    organization_industry: null,
  });
});

it("an answer with only an employer id keeps the company name of the same id, and clears another's", async () => {
  const { row, person } = inventPerson();
  const company = { id: 'o-7', name: 'Fjord', primary_domain: 'fjord.example' };
  await record(await callInFlight([row]), answerWith([{ ...person, organization: company }]));
  for (const [organization_id, organization_name] of [
    ['o-7', 'Fjord'],
    ['o-8', null],
  ]) {
    await warehouse.query`delete from lookup_history`;
    await record(
      await callInFlight([row]),
      answerWith([{ ...person, organization: null, organization_id: organization_id! }]),
    );
    expect(await contact(row.contactId!)).toMatchObject({ organization_id, organization_name });
  }
  const rows = await warehouse.query`
    select organization_id, name from organizations where organization_id in ('o-7', 'o-8')`;
  expect(rows).toEqual([{ organization_id: 'o-7', name: 'Fjord' }]);
});
