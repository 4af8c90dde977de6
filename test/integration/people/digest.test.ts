import { expect, it } from 'vitest';
import { rebuild } from '../../../src/people/rebuild.ts';
import { appendContact } from '../../helpers/warehouse/write-facts.ts';
import { warehouseOfFile } from '../../helpers/database/database.ts';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { digest } from '../../../src/people/digest.ts';
import { prune } from '../../../src/privacy/prune.ts';
import { endRun } from '../../../src/runs/finish-run.ts';
import { noSignal } from '../../helpers/warehouse/rows.ts';
import { answerWith } from '../../helpers/warehouse/answers.ts';
import { callsByHand, inventPerson, type AdmittedCall } from '../../helpers/warehouse/calls-by-hand.ts';
import { expectRebuildEqual, readComputedTables } from '../../helpers/database/contents.ts';
import { runningRunOf } from '../../helpers/warehouse/scripted-calls.ts';

const warehouse = await warehouseOfFile();

for (let n = 0; n < 5; n += 1)
  await appendContact(warehouse, {
    contactId: `c-${n}`,
    runId: 'r',
    rowNumber: n + 1,
    person: { id: `p-${n}`, title: 'CTO', organization: { id: 'o', name: 'Acme' } },
    phones: ['+14155550100'],
  });

const contents = () => readComputedTables(warehouse);

it('rebuild() with check lists contacts that differ from the log; without check it repairs them', async () => {
  const before = await contents();
  await warehouse.query`update people set title = 'CEO' where person_id = 'p-1'`;
  await warehouse.query`delete from contacts where contact_id = 'c-2'`;
  await warehouse.query`delete from people where person_id = 'p-3'`;
  await warehouse.query`update contacts set person_key = 'person:p-0' where contact_id = 'c-4'`;
  const damaged = await contents();
  const checked = await rebuild(warehouse, { check: true, signal: noSignal });
  expect(checked).toMatchObject({ differences: 5, complete: true });
  expect(checked.differing.toSorted()).toEqual([
    'generic c-2',
    'generic c-3',
    'generic c-4',
    'test person:p-1',
    'test person:p-3',
  ]);
  expect(await contents()).toEqual(damaged);
  await rebuild(warehouse, { check: false, signal: noSignal });
  expect(await contents()).toEqual(before);
});

const { callInFlight, record, contact } = callsByHand(warehouse);

/** Stores an answer as a worker that is killed before the digest leaves it. */
async function storedOnly({ attemptId }: AdmittedCall, body: Buffer): Promise<void> {
  await warehouse.query`
    update attempts set status = 'settled', http_status = 200, credits_settled = 1, answered_at = now()
    where attempt_id = ${attemptId}`;
  await warehouse.query`insert into raw_answers (attempt_id, body_gzip) values (${attemptId}, ${body})`;
  await warehouse.query`insert into digest_queue (kind, owner) values ('answer', ${attemptId})`;
}

const bodyOf = (...matches: Parameters<typeof answerWith>[0]) => promisify(gzip)(answerWith(matches).raw);

async function rowOf({ runId }: AdmittedCall): Promise<unknown> {
  const [row] = await warehouse.query`select outcome, reason from run_rows where run_id = ${runId}`;
  return row;
}

it('digest() processes an answer that a worker stored before it was killed', async () => {
  const { row, person } = inventPerson();
  const call = await callInFlight([row]);
  await storedOnly(call, await bodyOf(person));
  await digest(warehouse);
  expect(await rowOf(call)).toEqual({ outcome: 'enriched', reason: null });
  expect(await contact(row.contactId!)).toMatchObject({ person_id: person.id });
});

it('an unreadable stored answer makes its row unknown, survives prune(), and is read again by rebuild()', async () => {
  const [broken, sound] = [inventPerson(), inventPerson()];
  const call = await callInFlight([broken.row]);
  await storedOnly(call, Buffer.from('no gzip'));
  await record(await callInFlight([sound.row]), answerWith([sound.person]));
  expect(await contact(sound.row.contactId!)).toMatchObject({ person_id: sound.person.id });
  expect(await rowOf(call)).toEqual({
    outcome: 'unknown',
    reason: `the answer of attempt ${call.attemptId} is stored and cannot be digested`,
  });
  await endRun(warehouse, call.runId, 'finished', undefined);
  await prune(warehouse, { answers: 0 }, noSignal);
  expect(await warehouse.query`select 1 from raw_answers where attempt_id = ${call.attemptId}`).toHaveLength(
    1,
  );
  await warehouse.query`
    update raw_answers set body_gzip = ${await bodyOf(broken.person)} where attempt_id = ${call.attemptId}`;
  await rebuild(warehouse, { check: false, signal: noSignal });
  expect(await rowOf(call)).toMatchObject({ outcome: 'enriched' });
  expect(await contact(broken.row.contactId!)).toMatchObject({ person_id: broken.person.id });
});

it('a contact with two competing matches stays without a person after a call that finds nobody', async () => {
  const invented = inventPerson();
  const row = { ...invented.row, contactId: 'asked-twice' };
  const person = { ...invented.person, id: 'p-twice' };
  await record(await callInFlight([row]), answerWith([person]));
  const profileUrl = 'https://profiles.example/in/some-one';
  const sameMailbox = { contactId: 'same-mailbox', profileUrl };
  const double = { ...person, id: 'p-twice-new', proflink_url: profileUrl };
  await record(await callInFlight([sameMailbox]), answerWith([double]));
  expect(await contact(row.contactId)).toBeUndefined();
  const email = 'some.one@elsewhere.example';
  await record(await callInFlight([{ ...row, email }]), answerWith([null]));
  expect(await contact(row.contactId)).toBeUndefined();
  await expectRebuildEqual(warehouse);
});

it('a person without an id from an undone run is assigned to a contact when a newer row has the e-mail', async () => {
  const { id: _, ...person } = inventPerson().person;
  const profileUrl = 'profiles.example/in/without-id';
  const row = { contactId: 'without-id', firstName: person.first_name!, lastName: person.last_name! };
  const call = await callInFlight([{ ...row, profileUrl }]);
  await warehouse.query`update runs set undone_at = now() where run_id = ${call.runId}`;
  await record(call, answerWith([{ ...person, proflink_url: `https://${profileUrl}` }]));
  expect(await contact(row.contactId)).toBeUndefined();
  await runningRunOf(warehouse, [{ ...row, email: person.email! }]);
  expect(await contact(row.contactId)).toMatchObject({ email: person.email, person_id: null });
  await expectRebuildEqual(warehouse);
});

it('rebuild() changes nothing after an answer without an id for a contact of two people with one profile', async () => {
  const { id, ...person } = inventPerson().person;
  const profileUrl = 'profiles.example/in/two-ids';
  const answered = { ...person, proflink_url: `https://${profileUrl}` };
  const other = await callInFlight([{ contactId: 'of-two-ids', profileUrl }]);
  await record(other, answerWith([{ ...answered, id: `${id}-new` }]));
  const row = { contactId: 'two-ids', firstName: person.first_name!, lastName: person.last_name! };
  const byId = await callInFlight([{ ...row, personId: id! }]);
  await record(byId, answerWith([{ ...answered, id }]));
  // The third call is made although the profile was looked up before.
  await warehouse.query`update lookup_history set asked_at = asked_at - interval '2 years'`;
  const byProfile = await callInFlight([{ ...row, profileUrl }]);
  await record(byProfile, answerWith([answered]));
  await expect(expectRebuildEqual(warehouse)).resolves.toBeUndefined();
});
