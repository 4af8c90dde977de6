import { expect, it } from 'vitest';
import { storeDeliveries } from '../../../src/late-results/deliveries.ts';
import { drainInbox } from '../../../src/late-results/sync-late-results.ts';
import { hashToken } from '../../../src/ledger/admit.ts';
import { erase } from '../../../src/privacy/erase.ts';
import { openPage } from '../../../src/runs/pages.ts';
import { endRun } from '../../../src/runs/finish-run.ts';
import { undoRun, revertUndo } from '../../../src/runs/undo-run.ts';
import { warehouseOfFile } from '../../helpers/database/database.ts';
import {
  answerBatch,
  readContact,
  runningRunOf,
  personOf,
  playRun,
} from '../../helpers/warehouse/scripted-calls.ts';
import { rejectPerson } from '../../../src/calls/batches/enrich-batch.ts';
import { digest } from '../../../src/people/digest.ts';
import { rebuild } from '../../../src/people/rebuild.ts';
import { outcomesOf, testSpec, testNote, noSignal, testLookupRequest } from '../../helpers/warehouse/rows.ts';
import { expectRebuildEqual } from '../../helpers/database/contents.ts';
import type { OpenPerson } from '../../../src/calls/batches/open-people.ts';
import type { Person } from '../../../src/domain/identity/person.ts';

const warehouse = await warehouseOfFile({ keepsPlans: true });
const contact = (contactId: string) => readContact(warehouse, contactId);

let worlds = 0;

/** A row, and two people who fit the row by name and employer. No export has the e-mail of the second person. */
function world() {
  worlds += 1;
  const name = { first_name: 'Ida', last_name: `Vega${'abcdefghij'[worlds]!}` };
  const organization = { name: 'Delta Labs', primary_domain: 'delta.example' };
  const row = {
    email: `iv${worlds}@delta.example`,
    firstName: name.first_name,
    lastName: name.last_name,
    organizationName: 'Delta Labs',
    contactId: `ida-${worlds}`,
  };
  const otto = { firstName: 'Otto', lastName: 'Frank', contactId: `otto-${worlds}` };
  const person = { id: `ida-${worlds}`, ...name, organization };
  return {
    row,
    otherRow: { ...otto, email: `o${worlds}@far.example` },
    person,
    namesake: { ...person, id: `ida-too-${worlds}`, email: `ida${worlds}@delta.example` },
  };
}

it('a contact loses its person when a later run finds a namesake, until the namesake is erased', async () => {
  const { row, otherRow, person, namesake } = world();
  await playRun(warehouse, [row], [person], { source: 'hubspot' });
  expect(await contact(row.contactId)).toBeDefined();
  const second = await playRun(warehouse, [otherRow], [namesake], { source: 'salesforce' });
  expect(await contact(row.contactId)).toBeUndefined();
  await undoRun(warehouse, second, testNote, noSignal);
  expect(await contact(row.contactId)).toBeUndefined();
  await erase(warehouse, [`email:${namesake.email}`], testNote);
  expect(await contact(row.contactId)).toBeDefined();
});

it('openPage() opens a page that has a row with very long names', async () => {
  let seed = 7;
  const letter = (): string => {
    seed = (seed * 1_103_515_245 + 12_345) % 2 ** 31;
    return String.fromCharCode(0xac00 + (seed % 11_172));
  };
  const name = (): string => Array.from({ length: 300 }, letter).join('');
  const long = { firstName: name(), lastName: name(), organizationName: name() };
  const runId = await runningRunOf(warehouse, [
    { ...long, contactId: 'long' },
    { email: 'short@x.example', contactId: 'short' },
  ]);
  expect(await openPage(warehouse, runId, 1, testLookupRequest)).toEqual({ batches: [1], people: 2 });
});

const waterfall = ['email', 'phone'] as const;

const stranger = {
  id: 'W-1',
  emails: [
    { email: 'ceo@acme.example', email_status_cd: 'verified' },
    { email: 'bob.private@home.example', email_status_cd: 'verified' },
  ],
  phone_numbers: [{ sanitized_number: '+14155550999', type_cd: 'mobile', status_cd: 'valid_number' }],
};

it('a late result with an unknown id is not assigned to a contact by an e-mail that only the CRM has', async () => {
  const row = {
    email: 'ceo@acme.example',
    profileUrl: 'linkedin.com/in/ann-lee',
    firstName: 'Ann',
    lastName: 'Lee',
    contactId: 'ann',
  };
  const runId = await runningRunOf(warehouse, [row], { waterfall: [...waterfall] });
  const { attemptId, token } = await answerBatch(warehouse, { runId, waterfall }, () => [
    personOf(row, { proflink_url: 'https://linkedin.com/in/ann-lee', email: 'ann@newco.example' }),
  ]);
  const body = { request_id: '9', target_fields: ['emails'], credits_consumed: 3, people: [stranger] };
  await storeDeliveries(warehouse, [
    { tokenHash: hashToken(token!), body: Buffer.from(JSON.stringify(body)) },
  ]);
  await drainInbox(warehouse, { attemptId }, noSignal);
  expect(await contact('ann')).toMatchObject({ email: 'ann@newco.example', phone: null });
});

const acme = { name: 'Acme Widgets', primary_domain: 'acme.example' };
const locked = 'email_not_unlocked@domain.com';
let people = 0;

/** Two rows with the same name and employer, and the person whom the service finds for both rows. */
function namesakes() {
  people += 1;
  const name = { firstName: 'John', lastName: `Smith${'abcdefghijklmnopqrstuvw'[people]!}` };
  const row = (local: string) => ({
    ...name,
    email: `${local}${people}@acme.example`,
    organizationName: 'Acme Widgets',
    contactId: `${local}-${people}`,
  });
  const person = { id: `P-${people}`, first_name: 'John', last_name: name.lastName, email: locked };
  return { first: row('js'), second: row('john.s'), person: { ...person, organization: acme } };
}

/** Nine people who fill the rest of a batch. */
const strangers = () =>
  Array.from({ length: 9 }, (_, index) => ({
    email: `f${people}-${index}@fill.example`,
    firstName: `F${index}`,
    lastName: 'Fill',
    contactId: `fill-${people}-${index}`,
  }));
const johnOnly = (person: Person) => (asked: readonly OpenPerson[]) =>
  asked.map(({ identity }) => (identity.firstName === 'John' ? person : null));

it('a person whom two calls return is assigned to neither of two namesake contacts', async () => {
  const { first, second, person } = namesakes();
  const runId = await runningRunOf(warehouse, [first, ...strangers(), second]);
  for (const batch of [2, 1]) await answerBatch(warehouse, { runId, batch }, johnOnly(person));
  const outcomes = await outcomesOf(warehouse, runId);
  expect([outcomes[0], outcomes[10]]).toEqual(['identity_mismatch', 'identity_mismatch']);
  expect(await contact(first.contactId)).toBeUndefined();
  expect(await contact(second.contactId)).toBeUndefined();
  const rows = await warehouse.query`
      select q.reason from quarantined_people q join attempts using (attempt_id) where run_id = ${runId}`;
  expect(rows.map(({ reason }) => reason as string)).toEqual(
    Array(2).fill('another contact could be this person as well'),
  );
});

it('row_results shows when and why an enriched row lost its person, until the cause is undone', async () => {
  const { first, second, person } = namesakes();
  const earlier = await runningRunOf(warehouse, [first, ...strangers()], { source: 'hubspot' });
  await answerBatch(warehouse, { runId: earlier }, johnOnly(person));
  const resultOf = () => warehouse.query`
    select outcome, reason, lost_reason, lost_at is not null as is_lost
    from row_results where run_id = ${earlier} and row_number = 1`;
  const kept = { outcome: 'enriched', reason: null, lost_reason: null, is_lost: false };
  const why = 'another contact could be this person as well';
  const lost = { ...kept, reason: `the contact lost its person: ${why}`, lost_reason: why, is_lost: true };
  expect(await resultOf()).toEqual([kept]);
  const later = await runningRunOf(warehouse, [second], { source: 'salesforce' });
  expect(await resultOf()).toEqual([lost]);
  await answerBatch(warehouse, { runId: later }, () => [person]);
  await rebuild(warehouse, { check: false, signal: noSignal });
  expect(await resultOf()).toEqual([lost]);
  await endRun(warehouse, later, 'finished', undefined);
  await undoRun(warehouse, later, testNote, noSignal);
  expect(await resultOf()).toEqual([kept]);
  await revertUndo(warehouse, later, noSignal);
  expect(await resultOf()).toEqual([lost]);
  await endRun(warehouse, earlier, 'finished', undefined);
  await undoRun(warehouse, earlier, testNote, noSignal);
  expect(await resultOf()).toEqual([kept]);
});

const endings = {
  'finds nobody': (runId: string) => answerBatch(warehouse, { runId }, () => [null]),
  'is refused': async (runId: string) => {
    const refused = { runId, rowNumber: 1, reason: 'refused', asked: testSpec().options };
    await rejectPerson(warehouse, refused);
    await digest(warehouse);
  },
};

it.each(Object.entries(endings))(
  'after a call for a name that %s, rebuild() finds no difference in the contacts of the name',
  async (_, end) => {
    const { person } = namesakes();
    const identity = { firstName: 'John', lastName: person.last_name, organizationName: 'Acme Widgets' };
    const rowOf = (contactId: string) => ({ ...identity, contactId });
    const other = { ...strangers()[0]!, contactId: `stranger-${people}` };
    const first = await runningRunOf(warehouse, [other]);
    await answerBatch(warehouse, { runId: first }, () => [person]);
    await runningRunOf(warehouse, [rowOf(`unasked-${people}`)], { source: 'events' });
    await end(await runningRunOf(warehouse, [rowOf(`asked-${people}`)]));
    await expect(expectRebuildEqual(warehouse)).resolves.toBeUndefined();
  },
);
