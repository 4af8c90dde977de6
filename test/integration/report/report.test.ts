import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { gatherReport } from '../../../src/report/gather.ts';
import { renderReport, reportFormats } from '../../../src/report/render.ts';
import { readRunFacts } from '../../../src/runs/read-run-facts.ts';
import { appendContact } from '../../helpers/warehouse/write-facts.ts';
import { warehouseOfFile } from '../../helpers/database/database.ts';
import {
  stagedRun,
  addToSuppressionList,
  testLookupRequest,
  noSignal,
} from '../../helpers/warehouse/rows.ts';
import { temporaryFolder } from '../../helpers/system/temporary-folder.ts';
import { readContestedRows } from '../../../src/report/figures.ts';
import { planRows } from '../../../src/runs/planning/plan-rows.ts';
import { reconcileContacts } from '../../../src/runs/reconcile-contacts.ts';

const now = new Date('2026-11-21T12:00:00Z');
/** 3 calls in any 10 seconds. */
const rateLimits = [{ calls: 3, seconds: 10 }];

/** An attempt, with what differs from a settled call of two people who were both billed. */
interface Call {
  readonly id: string;
  readonly second: number;
  readonly status?: string;
  readonly reserved?: string;
  readonly settled?: string | null;
  readonly answered?: string | null;
  readonly found?: readonly string[];
  readonly answeredAfter?: number | null;
}

async function insertCall(runId: string, call: Call): Promise<void> {
  const { id, second, status = 'settled', reserved = '2', settled = '2', answered = '2' } = call;
  const { found = [], answeredAfter = 1 } = call;
  await warehouse.query`
    insert into attempts (
      attempt_id, run_id, batch, status, people, credits_reserved, credits_settled, credits_answered,
      found_ids, budget_ids, admitted_at, answered_at)
    values (${id}, ${runId}, 1, ${status}, 2, ${reserved}, ${settled}, ${answered}, ${found}, ${[`run:${runId}`]},
      timestamptz '2026-11-21 09:00:00Z' + ${second} * interval '1 second',
      timestamptz '2026-11-21 09:00:00Z' + (${second} + ${answeredAfter}::int) * interval '1 second')`;
}

/** Inserts the people of a call: row numbers, and the person that was written to each row. */
async function insertPeople(runId: string, attemptId: string, people: readonly [number, string | null][]) {
  for (const [index, [row, person]] of people.entries())
    await warehouse.query`
      insert into attempt_people (attempt_id, detail_index, run_id, row_number, outcome, person_id)
      values (${attemptId}, ${index}, ${runId}, ${row},
        ${person === null ? 'identity_mismatch' : 'enriched'}, ${person})`;
}

async function insertDelivery(
  runId: string,
  attemptId: string,
  delivery: { subject: string; credits: string; status?: string; second: number },
): Promise<void> {
  await warehouse.query`
    insert into webhook_deliveries (
      delivery_id, attempt_id, run_id, body, body_sha256, status, subject, credits, received_at)
    values (gen_random_uuid()::text, ${attemptId}, ${runId}, '', '', ${delivery.status ?? 'applied'},
      ${delivery.subject}, ${delivery.credits},
      timestamptz '2026-11-21 09:00:00Z' + ${delivery.second} * interval '1 second')`;
}

async function insertContact(runId: string, contactId: string, fields: Readonly<Record<string, string>>) {
  const { email, status, phone, phoneType, title } = fields;
  await appendContact(warehouse, {
    contactId,
    runId,
    attemptId: 'a-1',
    person: { id: `p-${contactId}`, email, email_status: status, title },
    ...(phone !== undefined && { phones: [phone], phoneType }),
  });
}

const warehouse = await warehouseOfFile();
const run = await stagedRun(warehouse, [
  { keys: [], outcome: 'enriched', email: 'one@orbit.example' },
  { keys: [], outcome: 'enriched' },
  { keys: [], outcome: 'enriched' },
  { keys: [], outcome: 'identity_mismatch' },
  { keys: [], outcome: 'unknown' },
  { keys: [], outcome: 'duplicate' },
  { keys: [], outcome: 'malformed' },
]);
const { runId } = run;
await warehouse.query`
  update runs set status = 'finished', header = '{Email,Job Title,Mobile,Phone}',
  mapping = '{"Email": "email"}', plan_hash = 'cafe',
  options = options || '{"service": "https://service.example/api/v1", "reveal": ["phone"]}',
  created_at = '2026-11-21 09:00:00Z', finished_at = '2026-11-21 09:30:00Z' where run_id = ${runId}`;
await warehouse.query`
  update run_rows set raw = case row_number
    when 1 then ${'["one@orbit.example", "Pilot\\u0000", "", ""]'}
    when 2 then ${'["", "", "", "[{\\"number\\":\\"+1 202 555 0100\\"}]"]'}
    else '["", " ", "", "[]"]'
  end where run_id = ${runId}`;
await warehouse.query`
  insert into budgets (budget_id, credits_limit, reserved, settled) values (${`run:${runId}`}, 100, 18, 23.5)`;

// Both people are written, and phones for 8.5 come: the dearer of two bodies about the same people is the bill.
await insertCall(runId, { id: 'a-1', second: 0, settled: '10.5', found: ['p-1', 'p-2'] });
await insertPeople(runId, 'a-1', [
  [1, 'p-1'],
  [2, 'p-2'],
]);
await insertDelivery(runId, 'a-1', { subject: 'phones:1', credits: '8', second: 11 });
await insertDelivery(runId, 'a-1', { subject: 'phones:1', credits: '8.5', second: 31 });
// Of the two people in this answer, an earlier answer had the first; the second fits no row.
await insertCall(runId, { id: 'a-2', second: 1, found: ['p-1', 'p-9'] });
await insertPeople(runId, 'a-2', [
  [3, 'p-1'],
  [4, null],
]);
await warehouse.query`
  insert into quarantined_people (attempt_id, match_index, reason)
  values ('a-2', 1, 'it fits no person who was asked for')`;
// This call never got an answer, and the operator has set its cost to 2 credits.
const lost = { answered: null, answeredAfter: null };
await insertCall(runId, { id: 'a-3', second: 2, ...lost });
await insertCall(runId, { id: 'a-4', second: 30, settled: '9', answered: '1', found: ['p-4'] });
await insertDelivery(runId, 'a-4', { subject: 'phones:x', credits: '8', status: 'applied', second: 40 });
await insertCall(runId, { id: 'a-5', second: 40, status: 'unknown', reserved: '18', settled: null, ...lost });
// The price of a delivery to an unknown call stays reserved until the operator decides.
await insertDelivery(runId, 'a-5', { subject: 'phones:y', credits: '8', status: 'applied', second: 45 });
await insertCall(runId, { id: 'a-6', second: 41, status: 'released', settled: '0', ...lost });

await insertContact(runId, 'contact-1', {
  email: 'one@orbit.example',
  status: 'verified',
  title: 'Pilot',
  phone: '+12025550101',
});
await insertContact(runId, 'contact-2', {
  email: 'two@orbit.example',
  status: 'Verified',
  phone: '+14155550199',
  phoneType: 'WORK_HQ',
});
await insertContact(runId, 'contact-3', { email: 'three@orbit.example', status: 'guessed' });

// Another run makes calls to the same service at the same time.
const other = await stagedRun(warehouse, [{ keys: [] }]);
await warehouse.query`
  update runs r set options = o.options from runs o where r.run_id = ${other.runId} and o.run_id = ${runId}`;
await insertCall(other.runId, { id: 'b-1', second: -5 });
await insertCall(other.runId, { id: 'b-2', second: 35 });

const report = await gatherReport(warehouse, runId, { rateLimits, now });

it('the report of a run counts every row once, in the order of the outcomes', () => {
  expect(Object.entries(report.outcomes)).toEqual([
    ['enriched', 3],
    ['identity_mismatch', 1],
    ['duplicate', 1],
    ['unknown', 1],
    ['malformed', 1],
  ]);
});

it('the report of a run measures coverage before and after, without duplicates and malformed rows', () => {
  expect(report.coverage.contacts).toBe(5);
  const fields = Object.fromEntries(report.coverage.fields.map(({ field, ...figures }) => [field, figures]));
  expect(fields).toMatchObject({
    email: { before: 1, after: 3, gained: 2 },
    verified_email: { before: null, after: 2, gained: 2 },
    title: { before: 1, after: 1, gained: 0 },
    phone: { before: 1, after: 2, gained: 1 },
    linkedin_url: { before: null, after: 0, gained: 0 },
  });
});

it('the report of a run splits settled credits into records, phones, waterfall and operator decisions', () => {
  expect(report.credits.settled).toEqual({
    total: '23.5',
    records: '5',
    phones: '16.5',
    waterfall: '0',
    decided: '2',
  });
  expect(report.credits.held).toEqual({ total: '18', in_flight: '0', awaiting: '0', unknown: '18' });
});

it('the report of a run shows the peak of calls in a rate window, including calls of other runs', () => {
  const { by_status: statuses, first_at: first, last_at: last, windows } = report.calls;
  expect(statuses).toEqual({ released: 1, settled: 4, unknown: 1 });
  expect([first, last]).toEqual(['2026-11-21T09:00:00.000Z', '2026-11-21T09:00:40.000Z']);
  // The other run's call of five seconds before still counts beside the first three.
  expect(windows).toEqual([{ limit: 3, seconds: 10, peak: 4 }]);
});

it('the report of a run lists the commands that the operator has to run next', () => {
  expect(report.needs_person.map(({ next }) => next.split(' ').slice(0, 3).join(' '))).toEqual([
    'enrich attempts list',
  ]);
});

it('the report of a run lists no action for unfinished rows that a later run has looked up', async () => {
  const first = await stagedRun(warehouse, [
    { keys: [], contactId: 'later-1', outcome: 'over_budget' },
    { keys: [], contactId: 'later-2', outcome: 'over_budget' },
    { keys: [], contactId: 'later-3', outcome: 'unknown' },
  ]);
  const needed = async (): Promise<string[]> => {
    await warehouse.query`update runs set status = 'finished', finished_at = now()`;
    const { needs_person: actions } = await gatherReport(warehouse, first.runId, { rateLimits, now });
    expect((await readRunFacts(warehouse, first.runId)).reason ?? null).toBe(
      actions[0] ? actions[0].what.replace(/^T/, 't').slice(0, -1) : null,
    );
    return actions.map(({ what }) => what);
  };
  expect(await needed()).toEqual([
    'The answers for 1 row were lost; the cost of their calls is decided.',
    'The budget had no credits left for 2 rows.',
  ]);
  await stagedRun(warehouse, [
    { keys: [], contactId: 'later-1', outcome: 'enriched' },
    { keys: [], contactId: 'later-2', outcome: 'over_budget' },
    { keys: [], contactId: 'later-3', outcome: 'not_found' },
  ]);
  expect(await needed()).toEqual(['The budget had no credits left for 1 row.']);
  await stagedRun(warehouse, [{ keys: [], contactId: 'later-2', outcome: 'fresh' }]);
  expect(await needed()).toEqual([]);
});

it.each(reportFormats)('the report of a run has no personal data as %s', (format) => {
  const text = renderReport(report, format);
  expect(text).toContain(report.run.run_id);
  expect(text).not.toMatch(/orbit\.example|Pilot|\+1 ?202/);
});

it('the report of a run compares contacts with a file of known values, by record id or e-mail', async () => {
  const truth = join(temporaryFolder(onTestFinished), 'truth.csv');
  const comparedWith = (content: string) => {
    writeFileSync(truth, content);
    return gatherReport(warehouse, runId, { rateLimits, now, truth });
  };
  const known = await comparedWith(
    '\ufeffcontact_id;Email;Title\ncontact-1;ONE@orbit.example;Pilot\n' +
      'contact-2;;Cook\ncontact-9;x@orbit.example;\n',
  );
  expect(known.evaluation).toMatchObject({
    source: 'generic',
    key: 'contact_id',
    people: 3,
    enriched: 2,
    fields: [
      { field: 'email', known: 2, filled: 1, correct: 1 },
      { field: 'title', known: 2, filled: 1, correct: 1 },
    ],
  });
  expect(renderReport(known, 'html')).toContain('Compared with known values');
  await warehouse.query`
    insert into contact_records (source, contact_id, run_id, row_number, other_emails, keys)
    values ('generic', 'contact-1', ${runId}, 1, '{one@orbit.example}', '{}')
    on conflict (source, contact_id, run_id) do update set other_emails = excluded.other_emails`;
  const byEmail = await comparedWith('email,title\none@orbit.example,Admiral\n');
  expect(byEmail.evaluation).toMatchObject({
    key: 'email',
    fields: [{ field: 'title', known: 1, filled: 1, correct: 0 }],
  });
  await expect(comparedWith('contact_id,Job title\ncontact-1,Pilot\n')).rejects.toMatchObject({
    type: 'truth.unreadable',
    next: expect.stringContaining('title') as string,
  });
});

it('the report of a run says that a record id names different people', async () => {
  const contested = await stagedRun(warehouse, [
    { keys: ['email:a1'], contactId: '9001', firstName: 'Ada', lastName: 'Novak' },
    { keys: ['email:b1'], contactId: '9001', firstName: 'Bob', lastName: 'Quist' },
    { keys: ['email:c1'], contactId: '9002', firstName: 'Cleo', lastName: 'Adler' },
    { keys: ['email:c1'], contactId: '9002', firstName: 'Cleo', lastName: 'Adler' },
  ]);
  await planRows(warehouse, contested.runId, testLookupRequest);
  const told = await gatherReport(warehouse, contested.runId, { rateLimits: [], now: new Date() });
  expect(told.contested_rows).toBe(2);
  expect(told.needs_person).toEqual([
    {
      what: '2 rows have a record id that names different people in the file.',
      next: expect.stringContaining('correct these record ids in the CRM'),
    },
  ]);
  expect(renderReport(told, 'markdown')).toContain('Rows whose record id names different people');
  await addToSuppressionList(warehouse, 'email:b1');
  await reconcileContacts(warehouse, contested.runId, noSignal);
  // A suppressed row needs no correction.
  expect(await readContestedRows(warehouse.database, contested.runId)).toBe(1);
});
