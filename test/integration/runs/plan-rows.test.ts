import { expect, it } from 'vitest';
import { peoplePerPage } from '../../../src/domain/runs/batching.ts';
import { matchKeysWithHashes } from '../../../src/domain/identity/match-keys.ts';
import { emailHashes } from '../../../src/domain/identity/values/email-address.ts';
import { openPage } from '../../../src/runs/pages.ts';
import { getRun } from '../../../src/runs/runs.ts';
import { planRows } from '../../../src/runs/planning/plan-rows.ts';
import {
  testLookupRequest,
  outcomesOf,
  stagedRun,
  type StagedRow,
  insertLookup,
} from '../../helpers/warehouse/rows.ts';
import { warehouseOfFile } from '../../helpers/database/database.ts';
import { plannedOutcomes, plannedRun } from '../../helpers/warehouse/scripted-calls.ts';
import { untilLockAwaited } from '../../helpers/database/contents.ts';

const warehouse = await warehouseOfFile();

const planned = (rows: readonly StagedRow[]) => plannedOutcomes(warehouse, rows);
const open = (runId: string, page = 1) => openPage(warehouse, runId, page, testLookupRequest);

const remember = (key: string, outcome: string, secondsAgo: number, fieldGroup = 'profile'): Promise<void> =>
  insertLookup(warehouse.pool, { key, found: outcome === 'enriched', secondsAgo, fieldGroup });

it('of several rows of one CRM record, a plan keeps only the row with the strongest key', async () => {
  const rows = [
    { keys: ['name:ada novak|acme'], contactId: 'strong' },
    { keys: ['email:info@acme|ada novak'], contactId: 'strong' },
    { keys: ['email:s1'], contactId: 'strong' },
    { keys: ['profile:s2'], contactId: 'strong' },
  ];
  expect(await planned(rows)).toEqual(['duplicate', 'duplicate', null, 'duplicate']);
});

it('an opt-out in one row applies to all rows of the CRM record and of the person', async () => {
  const rows = [
    { keys: ['email:o1'], contactId: 'out' },
    { keys: ['email:info@acme|ada novak'], contactId: 'out', optedOut: true },
    { keys: ['email:o1'], contactId: 'another' },
  ];
  expect(await planned(rows)).toEqual(['suppressed', 'suppressed', 'suppressed']);
});

it('rows that name different people in one CRM record are all duplicates, with a warning', async () => {
  const ada = { firstName: 'Ada', lastName: 'Novak' };
  const bob = { firstName: 'Bob', lastName: 'Quist' };
  const runId = await plannedRun(warehouse, [
    { keys: ['email:d1'], contactId: 'double', ...ada },
    { keys: ['email:d2'], contactId: 'double', ...bob },
    { keys: ['email:d1'], contactId: 'double', ...ada },
    // The person is requested for another record.
    { keys: ['email:d1'], contactId: 'single', ...ada },
    { keys: ['email:d3'], contactId: 'moved', ...ada },
    { keys: ['email:d4'], contactId: 'moved', ...ada },
    { keys: ['email:d5', 'profile:d5'], contactId: 'renamed', ...ada },
    { keys: ['profile:d5'], contactId: 'renamed', ...bob },
  ]);
  const rows = await warehouse.query`
    select outcome, reason from run_rows where run_id = ${runId} order by row_number`;
  const double = (other: number): object => ({
    outcome: 'duplicate',
    reason: `the same record as row ${other}; rows with this id name different people`,
  });
  expect(rows.slice(0, 4)).toEqual([double(2), double(1), double(1), { outcome: null, reason: null }]);
  expect(rows.slice(4).map(({ outcome }) => outcome)).toEqual([null, 'duplicate', null, 'duplicate']);
  const { warnings } = await getRun(warehouse, runId);
  expect(warnings).toEqual([
    '1 record id belongs to different people, such as in rows 1 and 2: these rows are not asked for',
  ]);
});

it('the plan of a HubSpot export warns of rows without a HubSpot record id', async () => {
  const run = await stagedRun(warehouse, [
    { keys: ['email:a1'], contactId: '4701' },
    { keys: ['email:b1'], contactId: 'key:0b54' },
    { keys: ['email:c1'], contactId: '00Q5e00000AbCdEAAV' },
    { keys: [], contactId: 'row:4', outcome: 'no_identifier' },
  ]);
  for (const mapping of [{ Email: 'email' }, { Email: 'email', 'Record ID': 'contact_id' }]) {
    await warehouse.query`
      update runs set source = 'hubspot', header = ${['Record ID', 'Email']}, mapping = ${mapping}
      where run_id = ${run.runId}`;
    await planRows(warehouse, run.runId, testLookupRequest);
    expect((await getRun(warehouse, run.runId)).warnings).toEqual([
      expect.stringContaining(
        "2 rows without a record id of a HubSpot contact: files for the CRM's importer leave these contacts out",
      ),
    ]);
  }
});

it('1,000 rows are one person if each row shares a key with the next row', async () => {
  const rows = Array.from({ length: 1_000 }, (_, index) => ({ keys: [`k:${index}`, `k:${index + 1}`] }));
  const outcomes = await planned(rows.reverse());
  expect(outcomes.filter((outcome) => outcome === null)).toHaveLength(1);
  expect(outcomes[0]).toBeNull();
});

it('people who were found and people who were not found stay fresh for different times', async () => {
  await remember('email:f1', 'enriched', 7_200);
  await remember('email:f2', 'not_found', 7_200);
  await remember('email:f3', 'not_found', 1_800);
  await remember('email:f4', 'enriched', 90_000);
  const rows = ['f1', 'f2', 'f3', 'f4'].map((name) => ({ keys: [`email:${name}`] }));
  expect(await planned(rows)).toEqual(['fresh', null, 'fresh', null]);
});

it('a lookup by a key of one row makes the person fresh in all rows of the person', async () => {
  await remember('profile:g1', 'enriched', 60);
  const rows = [{ keys: ['email:g1'] }, { keys: ['email:g1', 'profile:g1'] }];
  expect(await planned(rows)).toEqual(['fresh', 'duplicate']);
});

it('a person with a fresh phone is requested without the phone, in a separate call', async () => {
  const freshness = { ...testLookupRequest.freshness, phoneSeconds: 180 * 86_400 };
  for (const name of ['p1', 'p3']) {
    await remember(`email:${name}`, 'enriched', 100_000);
    await remember(`email:${name}`, 'enriched', 100_000, 'phone');
  }
  const people = ['p1', 'p2', 'p3', 'p4'].map((name) => ({ keys: [`email:${name}`] }));
  const run = await stagedRun(warehouse, people);
  const request = { ...testLookupRequest, freshness, fieldGroups: ['profile', 'phone'] };
  const plan = await planRows(warehouse, run.runId, request);
  expect(plan).toMatchObject({
    people: 4,
    calls: 2,
    byLeftOut: [
      { groups: [], people: 2 },
      { groups: ['phone'], people: 2 },
    ],
  });
  const rows = await warehouse.query`
    select row_number, left_out from run_people where run_id = ${run.runId} order by position`;
  expect(rows).toEqual([
    { row_number: 1, left_out: ['phone'] },
    { row_number: 3, left_out: ['phone'] },
    { row_number: 2, left_out: [] },
    { row_number: 4, left_out: [] },
  ]);
});

it('a person claimed by another run gets the outcome in_flight', async () => {
  await open(await plannedRun(warehouse, [{ keys: ['email:c1', 'profile:c1'] }]));
  expect(await planned([{ keys: ['profile:c1'] }, { keys: ['email:c2'] }])).toEqual(['in_flight', null]);
});

it('a claim of a run at another service does not keep a run from requesting the person', async () => {
  const other = await plannedRun(warehouse, [{ keys: ['email:c3'] }], { service: 'another' });
  await openPage(warehouse, other, 1, { ...testLookupRequest, service: 'another' });
  const runId = await plannedRun(warehouse, [{ keys: ['email:c3'] }]);
  expect(await open(runId)).toEqual({ batches: [1], people: 1 });
});

it.each([
  ['does not depend on the priority of the run', { priority: 'backfill' }, true],
  ['changes with --pilot', { pilot: 5 }, false],
  ['changes with --min-match-rate', { minMatchRate: 0.9 }, false],
  ['changes with --on-budget', { onBudget: 'finish' }, false],
  ['changes with --expect', { expectations: 'rows>100' }, false],
])('the hash of a plan %s', async (_, options, isSame) => {
  const hashOf = async (more: object): Promise<string> => {
    const { runId } = await stagedRun(warehouse, [{ keys: ['hash:gate'], contactId: 'gate' }]);
    await warehouse.query`
      update runs set file_sha256 = 'sha-gate', options = options || ${more}::jsonb where run_id = ${runId}`;
    return (await planRows(warehouse, runId, testLookupRequest)).plan_hash;
  };
  expect((await hashOf(options)) === (await hashOf({}))).toBe(isSame);
});

it('the hash of a plan is the same for the same file, and changes if an outcome changes', async () => {
  const run = await stagedRun(warehouse, [{ keys: ['email:h1'] }, { keys: ['email:h2'] }]);
  const first = await planRows(warehouse, run.runId, testLookupRequest);
  expect((await planRows(warehouse, run.runId, testLookupRequest)).plan_hash).toBe(first.plan_hash);

  const again = await stagedRun(warehouse, [{ keys: ['email:h1'] }, { keys: ['email:h2'] }]);
  await warehouse.query`update runs set file_sha256 = ${run.fileSha256} where run_id = ${again.runId}`;
  await remember('email:h2', 'enriched', 1);
  expect((await planRows(warehouse, again.runId, testLookupRequest)).plan_hash).not.toBe(first.plan_hash);
});

it('openPage() skips people who became fresh while it waited for the lock on their claims', async () => {
  const runId = await plannedRun(warehouse, [{ keys: ['email:race'] }]);
  const recording = await warehouse.pool.connect();
  await recording.query('begin');
  await recording.query(
    `insert into claims (service, identity_key, run_id, row_number) values ('test', 'email:race', 'other', 1)`,
  );
  await recording.query('commit');
  await recording.query('begin');
  await recording.query(`delete from claims where identity_key = 'email:race'`);
  await insertLookup(recording, { key: 'email:race' });
  const opening = open(runId);
  await untilLockAwaited(warehouse);
  await recording.query('commit');
  recording.release();
  expect(await opening).toEqual({ batches: [], people: 0 });
  expect(await outcomesOf(warehouse, runId)).toEqual(['fresh']);
  expect(await warehouse.query`select 1 from claims where identity_key = 'email:race'`).toEqual([]);
});

it('openPage() claims its people, so only one of two runs requests the same person', async () => {
  const row = { keys: ['email:w1'] };
  const runs = [await plannedRun(warehouse, [row]), await plannedRun(warehouse, [row])];
  const opened = await Promise.all(runs.map((runId) => open(runId)));
  expect(opened.map((page) => page.people).sort()).toEqual([0, 1]);
});

/** An earlier answer has named a person with these keys. */
async function answered(...keys: string[]): Promise<void> {
  await warehouse.query`
    insert into observations (service, person_key, person_id, kind, asked_at, run_id, attempt_id, identity_keys,
      match_keys, facts)
    values ('test', ${keys[0]}, ${keys[0]}, 'answer', now() - interval '1 year', 'run-of-the-log',
      'attempt-of-the-log', ${keys}, ${matchKeysWithHashes(keys)}, '{}')`;
  await warehouse.query`
    insert into person_keys (key, service, person_key)
    select unnest(${matchKeysWithHashes(keys)}::integer[]), 'test', ${keys[0]}`;
}

it('openPage() gives a known person to only one of two runs that have different keys of the person', async () => {
  await answered('person:k1', 'email:k1', 'profile:k1');
  const first = await plannedRun(warehouse, [{ keys: ['email:k1'] }]);
  const second = await plannedRun(warehouse, [{ keys: ['profile:k1'] }]);
  for (const runId of [first, second]) await open(runId);
  expect(await outcomesOf(warehouse, first)).toEqual([null]);
  expect(await outcomesOf(warehouse, second)).toEqual(['in_flight']);
});

it('openPage() skips a person who is in another open page of the run under another key', async () => {
  await answered('person:k8', 'email:k8', 'profile:k8');
  const between = Array.from({ length: peoplePerPage }, (_, index) => ({ keys: [`email:between-${index}`] }));
  const rows = [{ keys: ['email:k8'] }, ...between, { keys: ['profile:k8'] }];
  const runId = await plannedRun(warehouse, rows);
  for (const page of [1, 2, 1]) await open(runId, page);
  const outcomes = await outcomesOf(warehouse, runId);
  expect([outcomes[0], outcomes.at(-1)]).toEqual([null, 'duplicate']);
});

it('a person who was looked up by e-mail is fresh in a row that has only the hash of the e-mail', async () => {
  const email = 'h3@orbit.example';
  const [md5, sha256] = emailHashes(email);
  const runId = await plannedRun(warehouse, [{ hashedEmail: md5! }]);
  await answered('person:h3', `email:${email}`);
  await remember(`email:${email}`, 'enriched', 60);

  expect(await planned([{ hashedEmail: sha256! }, { keys: ['hash:other'] }])).toEqual(['fresh', null]);
  expect(await open(runId)).toMatchObject({ people: 0 });
  expect(await outcomesOf(warehouse, runId)).toEqual(['fresh']);
});

it('openPage() returns the same batches when it is called again', async () => {
  const rows = Array.from({ length: 25 }, (_, index) => ({ keys: [`email:again-${index}`] }));
  const runId = await plannedRun(warehouse, rows);
  const first = await open(runId);
  expect(first).toEqual({ batches: [1, 2, 3], people: 25 });
  expect(await open(runId)).toEqual(first);
});

const phones = { ...testLookupRequest, fieldGroups: ['profile', 'phone'] };
const people = (name: string, optedOut: readonly number[]): StagedRow[] =>
  Array.from({ length: 12 }, (_, index) => ({
    keys: [`email:${name}${index}`],
    optedOutOfCalls: optedOut.includes(index),
  }));

async function positionsOf(runId: string): Promise<Record<string, number>> {
  const rows = await warehouse.query<{ row_number: number; position: number }>`
    select row_number, position from run_people where run_id = ${runId}`;
  return Object.fromEntries(rows.map(({ row_number, position }) => [row_number, position]));
}

it('people who opted out of calls are in separate batches if the run requests phones', async () => {
  const rows = [...people('calls-a-', [1]), { keys: ['email:calls-a-4'], optedOutOfCalls: true }];
  const run = await stagedRun(warehouse, rows);
  const plan = await planRows(warehouse, run.runId, phones);
  const { 2: second, 5: fifth, ...others } = await positionsOf(run.runId);
  expect(plan).toMatchObject({ people: 12, people_without_phones: 2 });
  expect(Object.values(others).sort((one, other) => one - other)).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
  expect([second, fifth]).toEqual([10, 11]);
});

it('people who opted out of calls stay fresh without a phone in a later run that requests phones', async () => {
  await remember('email:calls-d-0', 'enriched', 60);
  await remember('email:calls-d-1', 'enriched', 60);
  const outcomes = await plannedOutcomes(warehouse, people('calls-d-', [0]), { reveal: ['phone'] });
  expect(outcomes.slice(0, 2)).toEqual(['fresh', null]);
});

it('planRows() counts the people of the plan who were found by earlier calls to the same service', async () => {
  await insertLookup(warehouse.pool, { key: 'email:refound-1', secondsAgo: 100_000 });
  await insertLookup(warehouse.pool, { key: 'profile:refound-1', secondsAgo: 100_000 });
  await insertLookup(warehouse.pool, { key: 'email:refound-2', secondsAgo: 100_000, found: false });
  await insertLookup(warehouse.pool, { key: 'email:refound-3', secondsAgo: 100_000, service: 'another' });
  await insertLookup(warehouse.pool, { key: 'email:refound-4', secondsAgo: 100_000 });
  const run = await stagedRun(warehouse, [
    { keys: ['email:refound-1', 'profile:refound-1'] },
    { keys: ['email:refound-2'] },
    { keys: ['email:refound-3'] },
    // The person was looked up by the e-mail of the next row.
    { keys: ['profile:refound-4'] },
    { keys: ['email:refound-4', 'profile:refound-4'] },
  ]);
  const plan = await planRows(warehouse, run.runId, testLookupRequest, 2);
  const before = { people: 4, found_before: 2, byLeftOut: [{ foundBefore: 2, missedBefore: 1 }] };
  expect(plan).toMatchObject(before);
  expect(await planRows(warehouse, run.runId, testLookupRequest, 2)).toMatchObject(before);
});
