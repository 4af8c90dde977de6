import { createHash } from 'node:crypto';
import { beforeEach, expect, it } from 'vitest';
import { refreshOpenPeople } from '../../../src/calls/batches/open-people.ts';
import { openPage } from '../../../src/runs/pages.ts';
import {
  findSuppressions,
  listSuppressions,
  addSuppressions,
  suppressStagedPeople,
  removeSuppressions,
} from '../../../src/suppression/suppression-list.ts';
import { warehouseOfFile } from '../../helpers/database/database.ts';
import {
  answeredCall,
  callWithPhones,
  drainCall,
  phonesBody,
  recordPhonesAnswer,
  storeDeliveryFor,
  type PhonesCall,
} from '../../helpers/warehouse/late-calls.ts';
import {
  testLookupRequest,
  outcomesOf,
  stagedRun,
  type StagedRow,
  testNote,
} from '../../helpers/warehouse/rows.ts';
import { plannedOutcomes, plannedRun } from '../../helpers/warehouse/scripted-calls.ts';

const note = { by: 'somebody', reason: 'asked us to' };

const warehouse = await warehouseOfFile();

beforeEach(() => warehouse.query`delete from suppression_entries`);

const put = (...keys: string[]): Promise<number> =>
  warehouse.database.transaction().execute((transaction) => addSuppressions(transaction, keys, note));

const hash = (algorithm: 'md5' | 'sha256', text: string): string =>
  createHash(algorithm).update(text).digest('hex');

const planned = (rows: readonly StagedRow[]) => plannedOutcomes(warehouse, rows);

let names = 0;
/** An e-mail that no other test uses. */
function address(): string {
  names += 1;
  return `ada${names}@orbit${names}.example`;
}

it('a plan leaves out people on the suppression list by e-mail, profile, id or hash', async () => {
  const keys = [`email:${address()}`, 'profile:linkedin.com/in/ada', 'person:5b', `hash:${hash('md5', 'x')}`];
  const [md5, sha256] = [address(), address()];
  await put(...keys, `hash:${hash('md5', md5)}`, `hash:${hash('sha256', sha256)}`);
  const listed = [...keys, `email:${md5}`, `email:${sha256}`];
  const rows = [...listed, 'email:other@orbit.example'].map((key) => ({ keys: [key] }));
  expect(await planned(rows)).toEqual([...listed.map(() => 'suppressed'), null]);
});

it('a plan leaves out people with an e-mail or employer at a suppressed domain or its subdomain', async () => {
  await put('domain:acme.example');
  const rows = [
    { email: 'ada@acme.example' },
    { email: 'bo@eu.acme.example' },
    { personId: '77', domain: 'acme.example' },
    { email: 'cy@notacme.example' },
  ];
  expect(await planned(rows)).toEqual(['suppressed', 'suppressed', 'suppressed', null]);
});

it('a suppressed shared mailbox suppresses all its users; with a name, it suppresses only that user', async () => {
  await put('email:info@acme.example');
  const shared = ['email:info@acme.example|ada novak', 'email:info@acme.example|bo ek'];
  expect(await planned(shared.map((key) => ({ keys: [key] })))).toEqual(['suppressed', 'suppressed']);
  await removeSuppressions(warehouse, ['email:info@acme.example']);
  await put(shared[0]!);
  expect(await planned(shared.map((key) => ({ keys: [key] })))).toEqual(['suppressed', null]);
});

it('the cells of a suppressed row are removed', async () => {
  const email = address();
  await put(`email:${email}`);
  const runId = await plannedRun(warehouse, [{ email, firstName: 'Ada' }]);
  const rows = await warehouse.query`
    select email, first_name, raw, keys, reason from run_rows where run_id = ${runId}`;
  expect(rows).toEqual([
    { email: null, first_name: null, raw: '[]', keys: [], reason: 'on the suppression list' },
  ]);
});

it('suppressStagedPeople() returns the count and the first five of the rows that identify no person', async () => {
  const nameless = Array.from({ length: 6 }, () => ({ keys: [] }));
  const run = await stagedRun(warehouse, [{ keys: ['email:from-a-file@orbit.example'] }, ...nameless]);
  expect(await suppressStagedPeople(warehouse, run.runId, testNote)).toEqual({
    added: 1,
    namelessRows: 6,
    firstNameless: [2, 3, 4, 5, 6],
  });
});

it('a person who is suppressed after the page opened is dropped before the call, and not claimed', async () => {
  const email = address();
  const runId = await plannedRun(warehouse, [{ email }]);
  await openPage(warehouse, runId, 1, testLookupRequest);
  await put(`email:${email}`);
  const open = { runId, batches: [1] };
  expect(await refreshOpenPeople(warehouse.database, open, testLookupRequest)).toEqual([]);
  expect(await outcomesOf(warehouse, runId)).toEqual(['suppressed']);
  expect(await warehouse.query`select 1 from claims where run_id = ${runId}`).toEqual([]);
});

it('the suppression list stores no personal data', async () => {
  const email = address();
  await put(`email:${email}`, 'domain:acme.example');
  const rows = await warehouse.query<{ all: string }>`
    select (select string_agg(e::text, ' ') from suppression_entries e)
      || (select string_agg(k::text, ' ') from suppressed_keys k) as all`;
  const stored = rows[0]!.all;
  expect(stored).not.toMatch(/@|orbit/);
  expect(stored).not.toContain(Buffer.from(email).toString('hex'));
  expect(await listSuppressions(warehouse, 10)).toEqual([
    expect.objectContaining({
      kind: 'domain',
      domain: 'acme.example',
      reason: 'asked us to',
      added_by: 'somebody',
    }),
    expect.objectContaining({ kind: 'email', domain: null }),
  ]);
});

it('findSuppressions() returns the entries that suppress each key, such as an entry for its domain', async () => {
  const email = address();
  await put(`email:${email}`, 'domain:held.example');
  const keys = ['person:1', `email:${email}`, 'email:bo@eu.held.example', 'person:2'];
  expect(await findSuppressions(warehouse.database, keys)).toEqual([
    [],
    [expect.objectContaining({ kind: 'email', domain: null })],
    [expect.objectContaining({ kind: 'domain', domain: 'held.example' })],
    [],
  ]);
});

it.each([
  ['by the e-mail of the row', (call: PhonesCall) => `email:${call.people[0]!.identity.email!}`],
  ['by the id in the answer', (call: PhonesCall) => `person:${call.ids[0]!}`],
])('an answer about a person suppressed %s is billed, but not stored', async (_, keyOf) => {
  const call = await callWithPhones(warehouse);
  await put(keyOf(call));
  await recordPhonesAnswer(warehouse, call);
  expect(await outcomesOf(warehouse, call.runId)).toEqual(['suppressed', 'enriched', 'enriched']);
  const contacts = await warehouse.query`
    select person_id from enriched_contacts where run_id = ${call.runId} order by 1`;
  expect(contacts).toEqual([{ person_id: call.ids[1] }, { person_id: call.ids[2] }]);
  const rows = await warehouse.query`
    select credits_answered::text as answered,
      (select count(*)::int from raw_answers r where r.attempt_id = a.attempt_id) as bodies
    from attempts a where attempt_id = ${call.attemptId}`;
  expect(rows).toEqual([{ answered: '3.000000', bodies: 0 }]);
});

it('a person suppressed by the id in an answer stays suppressed in plans until removeSuppressions()', async () => {
  const call = await callWithPhones(warehouse);
  const listed = `person:${call.ids[0]!}`;
  await put(listed);
  await recordPhonesAnswer(warehouse, call);
  const inTheCrm = call.people.map(({ identity }, index) => ({
    email: identity.email!,
    contactId: `crm-${index}`,
  }));
  expect(await planned(inTheCrm)).toEqual(['suppressed', 'fresh', 'fresh']);
  await removeSuppressions(warehouse, [listed]);
  expect(await planned(inTheCrm)).toEqual([null, 'fresh', 'fresh']);
});

it('a delivery with a suppressed person is stored without payload, and gives phones only to others', async () => {
  const call = await answeredCall(warehouse);
  await storeDeliveryFor(warehouse, call, phonesBody(call.ids, 24));
  await storeDeliveryFor(warehouse, call, phonesBody(call.ids, 24));
  await put(`person:${call.ids[0]!}`);
  await drainCall(warehouse, call);
  const phones = await warehouse.query`
    select person_id from person_phones where run_id = ${call.runId} order by 1`;
  expect(phones).toEqual([{ person_id: call.ids[1] }, { person_id: call.ids[2] }]);
  const deliveries = await warehouse.query`
    select status, body, person_ids
    from webhook_deliveries where attempt_id = ${call.attemptId} order by status`;
  expect(deliveries).toEqual([
    {
      status: 'applied',
      body: null,
      person_ids: [expect.stringMatching(/^suppressed-[0-9a-f]{24}$/), call.ids[1], call.ids[2]],
    },
    { status: 'duplicate', body: null, person_ids: [] },
  ]);
  const attempt = await warehouse.query`
    select status, trim_scale(credits_settled)::text as settled
    from attempts where attempt_id = ${call.attemptId}`;
  expect(attempt).toEqual([{ status: 'settled', settled: '27' }]);
});
