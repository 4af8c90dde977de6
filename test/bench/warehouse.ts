/**
 * Benchmark of the warehouse: the time to compute it from its log, to read it, and to plan a file of known people.
 *
 * `npm run bench:warehouse [-- --people 100000 --lookups 30000000]`. Every person has an answer, and every fifth person
 * also has a delivery with phones. The history has `--lookups` lookups of other people. `--only reads` ends after the
 * reads, because ten million people need an hour and 60 GB. Uses DATABASE_URL (an empty database), or an embedded
 * PostgreSQL of its own.
 */
import { openWarehouse, type Warehouse } from '../../src/db/database.ts';
import { matchKeysOfPerson } from '../../src/domain/identity/match-keys.ts';
import { rebuild } from '../../src/people/rebuild.ts';
import { countFillable, reconcileContacts } from '../../src/runs/reconcile-contacts.ts';
import { planRows } from '../../src/runs/planning/plan-rows.ts';
import { openBenchDatabase } from './bench-database.ts';
import { benchOptions } from './command-line.ts';
import { peakMegabytes } from './own-process.ts';
import { postgresMilliseconds } from './processor-time.ts';
import { quantile } from './quantile.ts';

const service = 'bench';
const month = 30 * 86_400;
const wanted = benchOptions('people', 'lookups', 'only');
const options = JSON.stringify({
  service,
  reveal: [],
  waterfall: [],
  freshness: {},
  only: [],
  orderBy: null,
});
const { signal } = new AbortController();

/**
 * Inserts an answer about each person, as `factsOfAnswer` writes it. The parameters are numbers of people and their
 * match keys.
 */
const answers = `insert into observation_log (service, person_key, person_id, kind, asked_at, run_id, attempt_id,
     organization_key, organization_facts, identity_keys, match_keys, facts)
   select '${service}', 'person:p' || n, 'p' || n, 'answer', now() - interval '1 day', 'run-1', 'a' || n / 10,
     'id:c' || n / 20, sha256(convert_to('c' || n / 20, 'UTF8')),
     array['person:p' || n, 'email:person' || n || '@company' || n / 20 || '.example',
       'profile:profiles.example/in/person-' || n],
     k.keys::integer[],
     jsonb_build_object(
       'person_id', jsonb_build_object('person_id', 'p' || n),
       'first_name', jsonb_build_object('first_name', 'Ada', 'last_name', 'Novak' || n),
       'name', jsonb_build_object('name', 'Ada Novak' || n),
       'email', jsonb_build_object('email', 'person' || n || '@company' || n / 20 || '.example',
         'email_status', 'verified', 'rank', 0),
       'emails', jsonb_build_array(jsonb_build_object('email', 'person' || n || '@company' || n / 20 || '.example',
         'kind', 'profile', 'position', 0, 'email_status', 'verified')),
       'title', jsonb_build_object('title', 'Engineer ' || n % 100),
       'headline', jsonb_build_object('headline', 'Engineer at Company ' || n / 20),
       'seniority', jsonb_build_object('seniority', 'senior'),
       'departments', jsonb_build_object('departments', array['engineering']),
       'city', jsonb_build_object('city', 'Berlin', 'country', 'Germany'),
       'linkedin_url', jsonb_build_object('linkedin_url', 'https://profiles.example/in/person-' || n),
       'organization_name', jsonb_build_object('organization_name', 'Company ' || n / 20,
         'organization_id', 'c' || n / 20, 'organization_domain', 'company' || n / 20 || '.example',
         'organization_industry', 'machinery', 'organization_employees', n / 20 % 5000),
       'employment', (select jsonb_agg(jsonb_build_object('title', 'Engineer',
         'organization_name', 'Company ' || n % 977 + j, 'start_date', '201' || j || '-01-01',
         'started_on', '201' || j || '-01-01', 'current', j = 3))
         from generate_series(1, 3) j))
   from unnest($1::int[], $2::text[]) as k (n, keys)`;

/**
 * Statements that insert a company for every twenty people, phones as `factsOfLateResult` writes them, contacts, runs
 * and lookups.
 */
const log = [
  `insert into organization_facts (facts_hash, domain, facts)
   select sha256(convert_to('c' || c, 'UTF8')), 'company' || c || '.example', json_build_object('id', 'c' || c,
     'name', 'Company ' || c, 'domain', 'company' || c || '.example', 'industry', 'machinery',
     'estimated_num_employees', c % 5000, 'keywords', array['bearings', 'gears', 'maintenance'],
     'short_description', repeat('Makes parts for machines. ', 8))
   from generate_series(0, $1::int / 20) c`,
  `insert into observation_log (service, person_key, person_id, kind, asked_at, run_id, attempt_id, delivery_id,
     identity_keys, facts)
   select '${service}', 'person:p' || n, 'p' || n, 'phones', now() - interval '1 day', 'run-1', 'a' || n / 10, 'd' || n,
     array['person:p' || n],
     jsonb_build_object('phones', jsonb_build_array(jsonb_build_object('number', '+4930' || 1000000 + n,
       'raw_number', '030 ' || n, 'status', 'valid_number', 'type', 'mobile', 'position', 0, 'origin', 'reveal',
       'status_rank', 0, 'e164_rank', 0, 'type_rank', 0)))
   from generate_series(5, $1::int, 5) n`,
  `insert into contact_matches (source, contact_id, service, person_key, evidence, asked, run_id, attempt_id,
     row_number, valid_from)
   select 'crm', 'c' || n, '${service}', 'person:p' || n, 'email', true, 'run-1', 'a' || n / 10, n,
     now() - interval '1 day'
   from generate_series(1, $1::int) n`,
  `insert into runs (run_id, run_key, workflow_id, status, source, file_path, file_name, file_sha256, options,
     finished_at)
   select 'run-1', 'run-1', 'run-1', 'finished', 'crm', '', '', '', '${options}', now()
   where $1::int > 0`,
  `insert into lookup_history (key_hash, field_group, found, asked_at, lookup_run)
   select key_hash(
       unnest(array['person:p' || n, 'email:person' || n || '@company' || n / 20 || '.example']), '${service}'),
     'profile', true, now() - interval '1 day', (select number_lookup_run('run-1', '${service}'))
   from generate_series(1, least($1::int, 90000)) n`,
  `insert into runs (run_id, run_key, workflow_id, status, source, file_path, file_name, file_sha256, options,
     rows_staged)
   select 'run-2', 'run-2', 'run-2', 'ingesting', 'other-crm', '', '', '', '${options}', least($1::int, 90000) + 10000`,
  `insert into run_rows (run_id, row_number, contact_id, raw, keys, email, first_name, last_name)
   select 'run-2', row_number() over (), email, '[]', array['email:' || email], email, 'Ada', 'Novak' || n
   from (
     select n, 'person' || n || '@company' || n / 20 || '.example' as email
     from generate_series(1, least($1::int, 90000)) n
     union all
     select n, 'unknown' || n || '@nowhere.example' from generate_series(1, 10000) n
   ) people`,
];

/**
 * Drops the indexes of the log, because ten million entries take hours with them.
 *
 * @returns statements that create the indexes again
 */
async function dropIndexes({ pool }: Warehouse): Promise<string[]> {
  const { rows } = await pool.query<{ name: string; definition: string }>(
    `select indexrelid::regclass::text as name, pg_get_indexdef(indexrelid) as definition
     from pg_index
     where indrelid in ('observation_log'::regclass, 'contact_matches'::regclass) and not indisunique`,
  );
  for (const { name } of rows) await pool.query(`drop index ${name}`);
  return rows.map(({ definition }) => definition);
}

/** Runs a statement for portions of the people, with their match keys, which SQL cannot compute. */
async function writeByNumbers({ pool }: Warehouse, people: number, statement: string): Promise<void> {
  const perStatement = 10_000;
  for (let from = 1; from <= people; from += perStatement) {
    const numbers = Array.from(
      { length: Math.min(perStatement, people - from + 1) },
      (_, index) => from + index,
    );
    await pool.query(statement, [numbers, numbers.map(matchKeysOf)]);
  }
}

/** Returns the match keys of a person as the text of a PostgreSQL array. */
function matchKeysOf(n: number): string {
  const person = {
    id: `p${n}`,
    email: `person${n}@company${Math.floor(n / 20)}.example`,
    first_name: 'Ada',
    last_name: `Novak${n}`,
    proflink_url: `profiles.example/in/person-${n}`,
  };
  return `{${matchKeysOfPerson(person).join(',')}}`;
}

async function timed<Result>(
  { pool }: Warehouse,
  what: string,
  work: () => Promise<Result>,
): Promise<Result> {
  const [own, server] = [process.cpuUsage(), await postgresMilliseconds(pool)];
  const begun = performance.now();
  const result = await work();
  const seconds = (performance.now() - begun) / 1_000;
  const { user, system } = process.cpuUsage(own);
  // Processor time is measured because elapsed time varies on a shared machine.
  const processor = (await postgresMilliseconds(pool)) - server + (user + system) / 1_000;
  console.log(
    `${what.padEnd(44)} ${seconds.toFixed(1).padStart(7)} s  ${(processor / 1_000).toFixed(1).padStart(7)} s ` +
      'of processor time',
  );
  return result;
}

/** The median time that the server takes to plan and run a statement, for different contacts. */
async function medianOf(
  { pool }: Warehouse,
  what: string,
  statement: string,
  parametersOf: (index: number) => unknown[],
): Promise<void> {
  const times: number[] = [];
  for (let index = 1; index <= 101; index += 1) {
    const { rows } = await pool.query<{
      'QUERY PLAN': { 'Planning Time': number; 'Execution Time': number }[];
    }>(`explain (analyze, timing off, format json) ${statement}`, parametersOf(index));
    const [plan] = rows[0]!['QUERY PLAN'];
    times.push(plan!['Planning Time'] + plan!['Execution Time']);
  }
  console.log(
    `${what.padEnd(44)} ${quantile(times).toFixed(2).padStart(7)} ms  ${Math.max(...times)
      .toFixed(1)
      .padStart(7)} ms at most`,
  );
}

/** Inserts lookups of people who are not in the file. */
async function addLookups({ pool }: Warehouse, lookups: number): Promise<void> {
  await pool.query(
    `insert into lookup_history (key_hash, field_group, found, asked_at, lookup_run)
     select key_hash('email:other' || n || '@elsewhere.example', '${service}'), 'profile', true,
       now() - interval '1 day', 1
     from generate_series(1, $1::int) n`,
    [lookups],
  );
  const { rows } = await pool.query<{ count: string; each: string }>(
    `select count(*), pg_total_relation_size('lookup_history') / count(*) as each from lookup_history`,
  );
  console.log(`${rows[0]!.count} lookups, ${rows[0]!.each} bytes a key and group of fields`);
}

async function measure(warehouse: Warehouse, people: number, lookups: number): Promise<void> {
  const { pool } = warehouse;
  const createIndexes = await dropIndexes(warehouse);
  for (const statement of log) await pool.query(statement, [people]);
  await addLookups(warehouse, lookups);
  await writeByNumbers(warehouse, people, answers);
  for (const createIndex of createIndexes) await pool.query(createIndex);
  await pool.query('vacuum analyze');
  const rebuilt = await timed(warehouse, `rebuild of ${people} people`, () =>
    rebuild(warehouse, { check: false, signal }),
  );
  console.log(`  peak memory ${peakMegabytes().toFixed(0)} MB, ${rebuilt.differences} written`);
  await pool.query('vacuum analyze');
  await measureReads(warehouse, people);
  if (wanted.only === 'reads') return;
  const checked = await timed(warehouse, 'rebuild --check', () =>
    rebuild(warehouse, { check: true, signal }),
  );
  console.log(`  ${checked.differences} differences`);

  await measurePlan(warehouse);
}

async function measureReads(warehouse: Warehouse, people: number): Promise<void> {
  // Picks contacts that are spread over all people.
  const contact = (index: number): string => `c${1 + Math.floor(((index * 0.618_034) % 1) * people)}`;
  const byKey = (index: number): unknown[] => ['crm', contact(index)];
  await medianOf(
    warehouse,
    'a contact by its key',
    'select * from enriched_contacts where source = $1 and contact_id = $2',
    byKey,
  );
  await medianOf(
    warehouse,
    'the history of a contact',
    'select * from contact_history where source = $1 and contact_id = $2',
    byKey,
  );
  await medianOf(
    warehouse,
    'a page of 1,000 changes',
    'select * from changes where change_id > $1 order by change_id limit 1000',
    (index) => [Math.ceil((index * people) / 101)],
  );
  const sizes = await warehouse.pool.query<{ name: string; each: string }>(
    `select name, round(sum(pg_total_relation_size(name::regclass)) / $1) as each
     from unnest(array['observation_log', 'organization_facts', 'contact_matches', 'people',
       'person_history', 'person_keys', 'contact_records', 'contact_keys', 'changes']) as name
     group by rollup (name) order by 2 desc`,
    [people],
  );
  for (const { name, each } of sizes.rows)
    console.log(`${(name ?? 'in all').padEnd(44)} ${each.padStart(7)} bytes a person`);
}

async function measurePlan(warehouse: Warehouse): Promise<void> {
  const { database } = warehouse;
  const asked = {
    freshness: { enrichedSeconds: 3 * month, notFoundSeconds: month },
    fieldGroups: ['profile'],
    service,
  };
  const run = { runId: 'run-2', source: 'other-crm', service };
  const plan = await timed(warehouse, 'plan of a file of known people', () =>
    planRows(warehouse, 'run-2', asked),
  );
  const fillable = await timed(warehouse, 'how many it can fill', () => countFillable(database, run));
  const { filled } = await timed(warehouse, 'filling them', () =>
    reconcileContacts(warehouse, 'run-2', signal),
  );
  console.log(`  ${plan.rows} rows, ${plan.people} to ask for, ${fillable} can be filled, ${filled} filled`);
}

const { databaseUrl, close } = await openBenchDatabase(process.env['DATABASE_URL']);
try {
  const warehouse = openWarehouse(databaseUrl);
  await measure(warehouse, Number(wanted.people ?? 100_000), Number(wanted.lookups ?? 0));
  await warehouse.close();
} finally {
  await close();
}
