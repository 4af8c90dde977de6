/**
 * Benchmark of a night: an export that repeats the contacts of the night before, 1 % of them with a new employer. Nine
 * of ten contacts are known and fresh.
 *
 * `npm run bench:night [-- --rows 100000]`. Prints the times before the first call and after the last call, compared
 * with papaparse and COPY alone on the same file. Uses DATABASE_URL (an empty database), or an embedded PostgreSQL.
 */
import { createWriteStream } from 'node:fs';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { openWarehouse, type Warehouse } from '../../src/db/database.ts';
import { matchKeysOfPerson } from '../../src/domain/identity/match-keys.ts';
import { hashExport } from '../../src/ingest/reading/export-bytes.ts';
import { stageExport } from '../../src/ingest/staging/stage.ts';
import { findOrBeginRun } from '../../src/runs/begin-run.ts';
import { finishRun } from '../../src/runs/finish-run.ts';
import { openPage } from '../../src/runs/pages.ts';
import { planRun } from '../../src/runs/planning/plan-run.ts';
import { reconcileContacts } from '../../src/runs/reconcile-contacts.ts';
import { approveRun, setRunStatus } from '../../src/runs/runs.ts';
import { testLookupRequest, testSpec } from '../helpers/warehouse/rows.ts';
import { copyBare } from './bare-copy.ts';
import { openBenchDatabase } from './bench-database.ts';
import { benchOptions } from './command-line.ts';

const rows = Number(benchOptions('rows').rows ?? 1_000_000);
const { service } = testLookupRequest;
const { signal } = new AbortController();
const limits = { service, rateLimits: [{ calls: 600, seconds: 3_600 }], budgets: {}, callConcurrency: 10 };
const header = 'Record ID,First Name,Last Name,Email,Company Name,Company domain name,Job Title,City';

const isKnown = (number: number): boolean => number % 10 !== 0;

/**
 * Creates names without digits, because identity ignores digits; colleagues seldom share their initials, as in life.
 */
function nameOf(number: number): { first: string; last: string } {
  const letters = number.toString(26).replaceAll(/./g, (digit) => letterOf(Number.parseInt(digit, 26)));
  return { first: `${letterOf(number * 7)}lina`, last: `${letterOf(number * 3)}ovak${letters}` };
}

const letterOf = (number: number): string => String.fromCodePoint(97 + (number % 26));

function personOf(number: number, night: number) {
  const hasMoved = night > 1 && number % 100 === 1;
  const company = `${hasMoved ? 'Newfield' : 'Company'} ${Math.floor(number / 20)}`;
  const domain = `${company.toLowerCase().replace(' ', '')}.example`;
  const { first, last } = nameOf(number);
  return { first, last, email: `${first}.${last}@${domain}`, company, domain };
}

function* exportOf(night: number): Generator<string> {
  yield `${header}\n`;
  for (let number = 1; number <= rows; number += 1) {
    const { first, last, email, company, domain } = personOf(number, night);
    yield `${number},${first},${last},${email},${company},${domain},Engineer,Berlin\n`;
  }
}

/** Writes what calls of the first night have learned about nine of ten contacts. */
async function learnPeople({ pool }: Warehouse, runId: string): Promise<void> {
  const perStatement = 10_000;
  for (let from = 1; from <= rows; from += perStatement) {
    const count = Math.min(perStatement, rows - from + 1);
    const people = Array.from({ length: count }, (_, index) => from + index)
      .filter(isKnown)
      .map((number) => {
        const { first, last, email, company, domain } = personOf(number, 1);
        const organization = { name: company, primary_domain: domain };
        const person = { id: `p${number}`, first_name: first, last_name: last, email, organization };
        return { number, first, last, email, company, domain, keys: matchKeysOfPerson(person) };
      });
    await pool.query(
      `with known as materialized (
         select *, 'person:p' || number as person_key
         from jsonb_to_recordset($1::jsonb) as k (number integer, first text, last text, email text, company text,
           domain text, keys integer[])
       ), people as (
         insert into people (service, person_key, person_id, first_name, last_name, email, email_status,
           organization_name, organization_domain, emails, phones, employment, said_by, valid_from, enriched_at, run_id,
           attempt_id)
         select '${service}', person_key, 'p' || number, first, last, email, 'verified', company, domain,
           jsonb_build_array(jsonb_build_object('email', email, 'kind', 'profile', 'profile_observation_id', 1)), '[]',
           '[]', '{}', '{}', now(), $2, 'a' || number / 10
         from known
       ), observations as (
         insert into observation_log (service, person_key, person_id, kind, asked_at, run_id, attempt_id,
           organization_key, identity_keys, match_keys, facts)
         select '${service}', person_key, 'p' || number, 'answer', now(), $2, 'a' || number / 10, 'domain:' || domain,
           array[person_key, 'email:' || email], keys, jsonb_build_object(
             'person_id', jsonb_build_object('person_id', 'p' || number),
             'first_name', jsonb_build_object('first_name', first, 'last_name', last),
             'email', jsonb_build_object('email', email, 'email_status', 'verified', 'rank', 0),
             'emails', jsonb_build_array(jsonb_build_object('email', email, 'kind', 'profile', 'position', 0)),
             'organization_name', jsonb_build_object('organization_name', company, 'organization_domain', domain))
         from known
       ), keys as (
         insert into person_keys (key, service, person_key)
         select distinct unnest(keys), '${service}', person_key from known
       ), matches as (
         insert into contact_matches (source, contact_id, service, person_key, evidence, asked, run_id, row_number)
         select 'crm', number::text, '${service}', person_key, 'email', true, $2, number from known
       )
       insert into lookup_history (key_hash, field_group, found, asked_at, lookup_run)
       select key_hash(unnest(array[person_key, 'email:' || email]), '${service}'), 'profile', true, now(),
         number_lookup_run($2, '${service}')
       from known`,
      [JSON.stringify(people), runId],
    );
  }
  await pool.query('vacuum analyze');
}

async function playNight(warehouse: Warehouse, databaseUrl: string, folder: string, night: number) {
  const file = join(folder, `night-${night}.csv`);
  await pipeline(Readable.from(exportOf(night)), createWriteStream(file));
  const seconds: Record<string, number> = {};
  const timed = async (step: string, work: () => Promise<unknown>): Promise<void> => {
    const begun = performance.now();
    await work();
    seconds[step] = (performance.now() - begun) / 1_000;
  };
  await timed('bare', () => copyBare(file, databaseUrl, header.split(',').length));
  const spec = testSpec();
  const freshness = { enrichedSeconds: 90 * 86_400, notFoundSeconds: 3_600 };
  const options = { ...spec.options, source: 'crm', freshness };
  const of = { filePath: file, fileSha256: await hashExport(file), options };
  const { runId } = (await findOrBeginRun(warehouse, { ...spec, ...of })).run;
  await approveRun(warehouse, runId);
  await timed('stage', () => stageExport({ pool: warehouse.pool, runId, path: file, source: 'crm' }));
  await timed('plan', () => planRun({ warehouse, ...limits }, runId));
  await setRunStatus(warehouse, runId, 'running', undefined);
  await timed('record and digest', () => reconcileContacts(warehouse, runId, signal));
  await timed('open the first page', () =>
    openPage(warehouse, runId, 1, { ...testLookupRequest, freshness }),
  );
  const { rowCount: calls } = await warehouse.pool.query(
    `update run_rows set outcome = 'not_found' where run_id = $1 and outcome is null`,
    [runId],
  );
  await timed('finish', () => finishRun(warehouse, runId, 'finished', undefined));
  report(night, calls ?? 0, seconds);
  return runId;
}

function report(night: number, people: number, seconds: Readonly<Record<string, number>>): void {
  const { bare = 0, finish = 0, ...before } = seconds;
  const total = Object.values(before).reduce((sum, each) => sum + each, 0);
  const steps = Object.entries(before).map(([step, each]) => `${step} ${each.toFixed(1)} s`);
  const times = (each: number): string =>
    `${each.toFixed(1)} s, ${(each / bare).toFixed(1)} times the bare COPY`;
  console.log(
    `night ${night}: ${rows} rows, ${people} people to ask for; papaparse → COPY ${bare.toFixed(1)} s\n` +
      `  before the first call ${times(total)}: ${steps.join(', ')}\n` +
      `  after the last call ${times(finish)}`,
  );
}

const { databaseUrl, folder, close } = await openBenchDatabase(process.env['DATABASE_URL']);
try {
  const warehouse = openWarehouse(databaseUrl);
  await learnPeople(warehouse, await playNight(warehouse, databaseUrl, folder, 1));
  await playNight(warehouse, databaseUrl, folder, 2);
  await warehouse.close();
} finally {
  await close();
}
