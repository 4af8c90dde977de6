import { describe, expect, it } from 'vitest';
import { peoplePerPage } from '../../../src/domain/runs/batching.ts';
import type { Warehouse } from '../../../src/db/database.ts';
import { matchKeysWithHashes } from '../../../src/domain/identity/match-keys.ts';
import { emailHashes } from '../../../src/domain/identity/values/email-address.ts';
import { openPage } from '../../../src/runs/pages.ts';
import { getRun } from '../../../src/runs/runs.ts';
import { planRows } from '../../../src/runs/planning/plan-rows.ts';
import {
  setPriority,
  testLookupRequest,
  outcomesOf,
  stagedRun,
  type StagedRow,
  insertLookup,
} from '../../helpers/warehouse/rows.ts';
import { warehouseOfFile } from '../../helpers/database/database.ts';

const warehouse = await warehouseOfFile();

async function planned(rows: readonly StagedRow[]): Promise<(string | null)[]> {
  const run = await stagedRun(warehouse, rows);
  await planRows(warehouse, run.runId, testLookupRequest);
  return outcomesOf(warehouse, run.runId);
}

async function remember(
  key: string,
  outcome: string,
  secondsAgo: number,
  fieldGroup = 'profile',
): Promise<void> {
  await insertLookup(warehouse.pool, { key, found: outcome === 'enriched', secondsAgo, fieldGroup });
}

/** Returns when a session of this database waits for a lock. */
async function waitsForALock({ pool }: Warehouse): Promise<void> {
  for (;;) {
    const waiting = await pool.query(
      `select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
    );
    if (waiting.rows.length > 0) return;
  }
}

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
  const run = await stagedRun(warehouse, [
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
  await planRows(warehouse, run.runId, testLookupRequest);
  const rows = await warehouse.query`
    select outcome, reason from run_rows where run_id = ${run.runId} order by row_number`;
  const double = (other: number): object => ({
    outcome: 'duplicate',
    reason: `the same record as row ${other}; rows with this id name different people`,
  });
  expect(rows.slice(0, 4)).toEqual([double(2), double(1), double(1), { outcome: null, reason: null }]);
  expect(rows.slice(4).map(({ outcome }) => outcome)).toEqual([null, 'duplicate', null, 'duplicate']);
  const { warnings } = await getRun(warehouse, run.runId);
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
  expect(await planned([{ keys: ['email:g1'] }, { keys: ['email:g1', 'profile:g1'] }])).toEqual([
    'fresh',
    'duplicate',
  ]);
});

it('a person with a fresh phone is requested without the phone, in a separate call', async () => {
  const clocks = { ...testLookupRequest.freshness, phoneSeconds: 180 * 86_400 };
  for (const name of ['p1', 'p3']) {
    await remember(`email:${name}`, 'enriched', 100_000);
    await remember(`email:${name}`, 'enriched', 100_000, 'phone');
  }
  const run = await stagedRun(
    warehouse,
    ['p1', 'p2', 'p3', 'p4'].map((name) => ({ keys: [`email:${name}`] })),
  );
  const plan = await planRows(warehouse, run.runId, {
    ...testLookupRequest,
    freshness: clocks,
    fieldGroups: ['profile', 'phone'],
  });
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
  const other = await stagedRun(warehouse, [{ keys: ['email:c1', 'profile:c1'] }]);
  await planRows(warehouse, other.runId, testLookupRequest);
  await openPage(warehouse, other.runId, 1, testLookupRequest);
  expect(await planned([{ keys: ['profile:c1'] }, { keys: ['email:c2'] }])).toEqual(['in_flight', null]);
});

it('a claim of a run at another service does not keep a run from requesting the person', async () => {
  const other = await stagedRun(warehouse, [{ keys: ['email:c3'] }]);
  await planRows(warehouse, other.runId, { ...testLookupRequest, service: 'another' });
  await openPage(warehouse, other.runId, 1, { ...testLookupRequest, service: 'another' });
  const run = await stagedRun(warehouse, [{ keys: ['email:c3'] }]);
  await planRows(warehouse, run.runId, testLookupRequest);
  expect(await openPage(warehouse, run.runId, 1, testLookupRequest)).toEqual({ batches: [1], people: 1 });
});

it('the hash of a plan does not depend on the priority of the run', async () => {
  const rows = [{ keys: ['hash:priority'], contactId: 'priority' }];
  const [nightly, backfill] = [await stagedRun(warehouse, rows), await stagedRun(warehouse, rows)];
  await warehouse.query`
    update runs set file_sha256 = 'sha-priority' where run_id = any(${[nightly.runId, backfill.runId]})`;
  await setPriority(warehouse, backfill.runId, 'backfill');
  expect((await planRows(warehouse, backfill.runId, testLookupRequest)).plan_hash).toBe(
    (await planRows(warehouse, nightly.runId, testLookupRequest)).plan_hash,
  );
});

it.each([
  ['--pilot', { pilot: 5 }],
  ['--min-match-rate', { minMatchRate: 0.9 }],
  ['--on-budget', { onBudget: 'finish' }],
  ['--expect', { expectations: 'rows>100' }],
])('the hash of a plan changes with %s, so that an approval holds for one plan only', async (_, options) => {
  const rows = [{ keys: ['hash:gate'], contactId: 'gate' }];
  const [plain, gated] = [await stagedRun(warehouse, rows), await stagedRun(warehouse, rows)];
  await warehouse.query`
      update runs set file_sha256 = 'sha-gate' where run_id = any(${[plain.runId, gated.runId]})`;
  await warehouse.query`
      update runs set options = options || ${options}::jsonb where run_id = ${gated.runId}`;
  expect((await planRows(warehouse, gated.runId, testLookupRequest)).plan_hash).not.toBe(
    (await planRows(warehouse, plain.runId, testLookupRequest)).plan_hash,
  );
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

describe('openPage()', () => {
  it('openPage() skips people who became fresh while it waited for the lock on their claims', async () => {
    const run = await stagedRun(warehouse, [{ keys: ['email:race'] }]);
    await planRows(warehouse, run.runId, testLookupRequest);
    const recording = await warehouse.pool.connect();
    await recording.query('begin');
    await recording.query(
      `insert into claims (service, identity_key, run_id, row_number) values ('test', 'email:race', 'other', 1)`,
    );
    await recording.query('commit');
    await recording.query('begin');
    await recording.query(`delete from claims where identity_key = 'email:race'`);
    await insertLookup(recording, { key: 'email:race' });
    const opening = openPage(warehouse, run.runId, 1, testLookupRequest);
    await waitsForALock(warehouse);
    await recording.query('commit');
    recording.release();
    expect(await opening).toEqual({ batches: [], people: 0 });
    expect(await outcomesOf(warehouse, run.runId)).toEqual(['fresh']);
    const claims = await warehouse.query`select 1 from claims where identity_key = 'email:race'`;
    expect(claims).toEqual([]);
  });

  it('openPage() claims its people, so only one of two runs requests the same person', async () => {
    const [one, other] = await Promise.all([1, 2].map(() => stagedRun(warehouse, [{ keys: ['email:w1'] }])));
    await planRows(warehouse, one!.runId, testLookupRequest);
    await planRows(warehouse, other!.runId, testLookupRequest);
    const opened = await Promise.all(
      [one!, other!].map((run) => openPage(warehouse, run.runId, 1, testLookupRequest)),
    );
    expect(opened.map((page) => page.people).sort()).toEqual([0, 1]);
  });

  /** An earlier answer has named a person with these keys. */
  async function answered(...keys: string[]): Promise<void> {
    await warehouse.pool.query(
      `insert into observations (service, person_key, person_id, kind, asked_at, run_id, attempt_id, identity_keys,
         match_keys, facts)
       values ('test', $1, $1, 'answer', now() - interval '1 year', 'run-of-the-log', 'attempt-of-the-log', $2, $3,
         '{}')`,
      [keys[0], keys, matchKeysWithHashes(keys)],
    );
    await warehouse.query`
      insert into person_keys (key, service, person_key)
      select unnest(${matchKeysWithHashes(keys)}::integer[]), 'test', ${keys[0]}`;
  }

  async function outcomesAfterOpening(...runs: (readonly StagedRow[])[]): Promise<(string | null)[][]> {
    const staged = [];
    for (const rows of runs) {
      const run = await stagedRun(warehouse, rows);
      await planRows(warehouse, run.runId, testLookupRequest);
      staged.push(run);
    }
    for (const run of staged) await openPage(warehouse, run.runId, 1, testLookupRequest);
    return Promise.all(staged.map((run) => outcomesOf(warehouse, run.runId)));
  }

  it('openPage() gives a known person to only one of two runs that have different keys of the person', async () => {
    await answered('person:k1', 'email:k1', 'profile:k1');
    expect(await outcomesAfterOpening([{ keys: ['email:k1'] }], [{ keys: ['profile:k1'] }])).toEqual([
      [null],
      ['in_flight'],
    ]);
  });

  it('openPage() skips a person who is in another open page of the run under another key', async () => {
    await answered('person:k8', 'email:k8', 'profile:k8');
    const between = Array.from({ length: peoplePerPage }, (_, index) => ({
      keys: [`email:between-${index}`],
    }));
    const { runId } = await stagedRun(warehouse, [
      { keys: ['email:k8'] },
      ...between,
      { keys: ['profile:k8'] },
    ]);
    await planRows(warehouse, runId, testLookupRequest);
    await openPage(warehouse, runId, 1, testLookupRequest);
    await openPage(warehouse, runId, 2, testLookupRequest);
    await openPage(warehouse, runId, 1, testLookupRequest);
    const outcomes = await outcomesOf(warehouse, runId);
    expect([outcomes[0], outcomes.at(-1)]).toEqual([null, 'duplicate']);
  });

  it('a person who was looked up by e-mail is fresh in a row that has only the hash of the e-mail', async () => {
    const email = 'h3@orbit.example';
    const [md5, sha256] = emailHashes(email);
    const staged = await stagedRun(warehouse, [{ keys: [`hash:${md5}`], hashedEmail: md5! }]);
    await planRows(warehouse, staged.runId, testLookupRequest);
    await answered('person:h3', `email:${email}`);
    await remember(`email:${email}`, 'enriched', 60);

    const rows = [{ keys: [`hash:${sha256}`], hashedEmail: sha256! }, { keys: ['hash:other'] }];
    expect(await planned(rows)).toEqual(['fresh', null]);
    expect(await openPage(warehouse, staged.runId, 1, testLookupRequest)).toMatchObject({ people: 0 });
    expect(await outcomesOf(warehouse, staged.runId)).toEqual(['fresh']);
  });

  it('openPage() returns the same batches when it is called again', async () => {
    const rows = Array.from({ length: 25 }, (_, index) => ({ keys: [`email:again-${index}`] }));
    const run = await stagedRun(warehouse, rows);
    await planRows(warehouse, run.runId, testLookupRequest);
    const first = await openPage(warehouse, run.runId, 1, testLookupRequest);
    expect(first).toEqual({ batches: [1, 2, 3], people: 25 });
    expect(await openPage(warehouse, run.runId, 1, testLookupRequest)).toEqual(first);
  });
});

describe('people who opted out of calls', () => {
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
    const run = await stagedRun(warehouse, people('calls-d-', [0]));
    await planRows(warehouse, run.runId, phones);
    expect((await outcomesOf(warehouse, run.runId)).slice(0, 2)).toEqual(['fresh', null]);
  });
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
