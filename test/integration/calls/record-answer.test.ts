import { gunzipSync } from 'node:zlib';
import { expect, it } from 'vitest';
import { creditsFromWhole } from '../../../src/domain/money/decimal.ts';
import { getRun, setRunStatus } from '../../../src/runs/runs.ts';
import { warehouseOfFile } from '../../helpers/database/database.ts';
import { answerWith } from '../../helpers/warehouse/answers.ts';
import { callsByHand, inventPerson, type AdmittedCall } from '../../helpers/warehouse/calls-by-hand.ts';
import { outcomesOf } from '../../helpers/warehouse/rows.ts';
import { bulkAnswer } from '../../helpers/servers/test-client.ts';
import { runningRunOf } from '../../helpers/warehouse/scripted-calls.ts';

const warehouse = await warehouseOfFile();
const { callInFlight, record, attemptOf, moneyOf, contact, lookupOf } = callsByHand(warehouse);

it('a person in an answer who fits no row is stored: a later run fills the contact without a call', async () => {
  const [asks, extra] = [inventPerson(), inventPerson()];
  const call = await callInFlight([asks.row]);
  await record(call, answerWith([null, extra.person]));
  expect(await lookupOf(extra.row)).toMatchObject({ found: true, field_group: 'profile' });
  expect(await lookupOf(asks.row)).toMatchObject({ found: false });
  const later = await runningRunOf(warehouse, [extra.row]);
  expect(await outcomesOf(warehouse, later)).toEqual(['fresh']);
  expect(await contact(extra.row.contactId!)).toMatchObject({ person_id: extra.person.id });
});

it('an answer sets the outcomes enriched, not_found and identity_mismatch, and fills only one contact', async () => {
  const [found, missed, wrong] = [inventPerson(), inventPerson(), inventPerson()];
  const stranger = { id: 'x', first_name: 'Xavier', last_name: 'Quill', email: 'x@elsewhere.example' };
  const call = await callInFlight([found.row, missed.row, wrong.row]);

  await record(call, answerWith([found.person, null, stranger]));

  expect(await moneyOf(call.runId)).toEqual([0, 2]);
  expect(await outcomesOf(warehouse, call.runId)).toEqual(['enriched', 'not_found', 'identity_mismatch']);
  const lookups = await Promise.all([found, missed, wrong].map(({ row }) => lookupOf(row)));
  // After a mismatch, found is null: the next call would return and bill the same stranger again.
  expect(lookups.map((lookup) => lookup.found)).toEqual([true, false, null]);
  expect(await contact(found.row.contactId!)).toMatchObject({
    person_id: found.person.id,
    email: found.person.email,
    organization_domain: 'orbit.example',
    run_id: call.runId,
    attempt_id: call.attemptId,
    row_number: 1,
  });
  expect(await contact(missed.row.contactId!)).toBeUndefined();
  expect(await contact(wrong.row.contactId!)).toBeUndefined();
  const quarantined = await warehouse.query`
    select match_index, reason from quarantined_people where attempt_id = ${call.attemptId}`;
  expect(quarantined).toEqual([{ match_index: 2, reason: 'another name' }]);
  const observed = await warehouse.query`
    select o.person_key, p.email from observations o join people p using (service, person_key)
    where o.attempt_id = ${call.attemptId} and o.person_id = 'x'`;
  expect(observed).toEqual([{ person_key: 'person:x', email: 'x@elsewhere.example' }]);
});

it('an answer settles the billed credits and releases the rest of the reservation', async () => {
  const [one, two] = [inventPerson(), inventPerson()];
  const call = await callInFlight([one.row, two.row]);
  expect(await moneyOf(call.runId)).toEqual([2, 0]);

  const requestId = '-9007199254740993123';
  await record(call, answerWith([one.person, null], { requestId, creditsConsumed: 250_000n }));

  expect(await moneyOf(call.runId)).toEqual([0, 0.25]);
  expect(await attemptOf(call)).toMatchObject({
    status: 'settled',
    request_id: requestId,
    credits_settled: '0.250000',
  });
});

it('an answer with a saved contact stores the e-mails of this contact with their status', async () => {
  const { row, person } = inventPerson();
  const call = await callInFlight([row]);
  const savedContact = {
    email: 'main@saved.example',
    email_status: 'unverified',
    contact_emails: [{ email: 'more@saved.example', email_status: 'verified' }, null],
  };
  await record(call, answerWith([{ ...person, contact: savedContact }]));
  const rows = await warehouse.query`
    select email, email_status
    from person_emails where person_id = ${person.id} order by position offset 1`;
  expect(rows).toEqual([
    { email: 'main@saved.example', email_status: 'unverified' },
    { email: 'more@saved.example', email_status: 'verified' },
  ]);
});

it('an answer is stored byte for byte, as the service sent it', async () => {
  const { row } = inventPerson();
  const call = await callInFlight([row]);
  const body = '{"matches":[null],"x":"\\u0000"} \xff';
  await record(call, answerWith([null], { raw: Buffer.from(body, 'latin1') }));
  const rows = await warehouse.query<{ sent: Buffer }>`
    select body_gzip as sent from raw_answers where attempt_id = ${call.attemptId}`;
  expect(rows.map(({ sent }) => gunzipSync(sent).toString('latin1'))).toEqual([body]);
});

it('characters that PostgreSQL refuses are removed from an answer before it is recorded', async () => {
  const { row, person } = inventPerson();
  const call = await callInFlight([row]);
  const sent = {
    ...person,
    id: 'p\u0000-nul',
    title: 'Chief \ud800Officer',
    departments: ['a\u0000b'],
    proflink_url: 'https://linkedin.com/in/a%00b',
  };
  await record(call, answerWith([sent]));
  expect(await contact(row.contactId!)).toMatchObject({
    person_id: 'p-nul',
    title: 'Chief Officer',
    departments: ['ab'],
  });
});

it('only 100 people of an answer with 5,002 are read, and the row of an unread person is a mismatch', async () => {
  const [known, beyond] = [inventPerson(), inventPerson()];
  const call = await callInFlight([known.row, beyond.row]);
  const strangers = Array.from({ length: 5_000 }, (_, index) => ({
    id: `s-${index}`,
    name: `Ada Novak${index}`,
  }));
  const matches = [known.person, ...strangers, beyond.person];
  await record(call, bulkAnswer({ credits_consumed: 2, matches }));
  expect(await outcomesOf(warehouse, call.runId)).toEqual(['enriched', 'identity_mismatch']);
  expect(await moneyOf(call.runId)).toEqual([0, 2]);
  const rows = await warehouse.query<{ reason: string }>`
    select reason from quarantined_people where attempt_id = ${call.attemptId} order by match_index`;
  expect(rows).toHaveLength(100);
  expect(rows.at(-1)?.reason).toBe('unreadable: the answer has 5002 elements, of which 100 are read');
});

it('an answer without a readable price enriches its rows; its call is unknown and keeps its reservation', async () => {
  const { row, person } = inventPerson();
  const call = await callInFlight([row]);
  await record(call, answerWith([person], { creditsConsumed: undefined, creditsProblem: 'unreadable' }));
  expect(await outcomesOf(warehouse, call.runId)).toEqual(['enriched']);
  expect(await moneyOf(call.runId)).toEqual([1, 0]);
  expect(await attemptOf(call)).toMatchObject({
    status: 'unknown',
    reason: 'credits_consumed is unreadable',
    credits_settled: null,
  });
});

it('an answer that costs more than was reserved is settled in full and pauses its run once', async () => {
  const { row, person } = inventPerson();
  const call = await callInFlight([row]);
  const answer = answerWith([person], { creditsConsumed: creditsFromWhole(9) });
  await record(call, answer);
  expect(await moneyOf(call.runId)).toEqual([0, 9]);
  expect(await getRun(warehouse, call.runId)).toMatchObject({
    status: 'paused',
    pauseReason: { type: 'service.overbilled' },
  });
  // The reply to the commit was lost, and the operator has resumed the run.
  await setRunStatus(warehouse, call.runId, 'running', undefined, { byOperator: true });
  await record(call, answer);
  expect(await getRun(warehouse, call.runId)).toMatchObject({ status: 'running' });
});

it('concurrent calls about the same people are recorded without a deadlock, and credits add up', async () => {
  const crowd = Array.from({ length: 10 }, inventPerson);
  const calls: AdmittedCall[] = [];
  for (let run = 0; run < 5; run += 1) {
    // Each call has the people in another order. Without claims, each call can request all of them.
    const rows = crowd.map((_, index) => crowd[(index * 3 + run) % 10]!.row);
    calls.push(await callInFlight(rows));
    await warehouse.query`delete from claims`;
  }
  const people = crowd.map(({ person }) => person);
  await Promise.all(calls.map((call) => record(call, answerWith(people))));
  for (const { runId } of calls) expect(await moneyOf(runId)).toEqual([0, 10]);
  const newest = calls.at(-1)!;
  for (const { row } of crowd) expect(await contact(row.contactId!)).toMatchObject({ run_id: newest.runId });
});
