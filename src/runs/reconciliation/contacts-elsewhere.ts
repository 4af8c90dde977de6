import { sql, type Kysely } from 'kysely';
import { matchKeysOfIdentityKeys } from '../../domain/identity/match-keys.ts';
import { emailHashes } from '../../people/email-hashes.ts';
import { hasSuppressions, keysOfRows, listedRows } from '../../privacy/suppressions.ts';
import type { Tables } from '../../db/schema.ts';
import type { RowsOfRun } from './contacts-to-reconcile.ts';

const observationsPerBatch = 1_000;

interface RowElsewhere {
  readonly runId: string;
  readonly source: string;
  readonly contactId: string;
  readonly rowNumber: number;
}

/**
 * Finds rows of ended runs, of any source, whose contacts have no person and share an identity key with a person whom a
 * run has found. Only the newest row of a contact counts: the record may have become another person.
 */
export async function* contactsElsewhere(
  database: Kysely<Tables>,
  { runId, service }: { readonly runId: string; readonly service: string },
): AsyncGenerator<RowsOfRun> {
  for (let after: string | null = '0'; after !== null;) {
    const learned: Learned = await keysLearned(database, runId, after);
    after = learned.last;
    const rows = await newestOnly(database, await rowsByKeys(database, { runId, service }, learned.keys));
    for (const otherRun of new Set(rows.map((row) => row.runId))) {
      const theirs = rows.filter((row) => row.runId === otherRun);
      const numbers = await notListed(
        database,
        otherRun,
        theirs.map(({ rowNumber }) => rowNumber),
      );
      const which = sql<boolean>`r.row_number = any(${numbers}::int[])`;
      if (numbers.length > 0) yield { runId: otherRun, source: theirs[0]!.source, service, rows: which };
    }
  }
}

interface Learned {
  readonly keys: readonly string[];
  readonly last: string | null;
}

/** Identity keys of the people in a run's answers, hashes of their addresses included. */
async function keysLearned(database: Kysely<Tables>, runId: string, after: string): Promise<Learned> {
  const { rows } = await sql<{ observation_id: string; identity_keys: string[] }>`
    select observation_id, identity_keys from observations
    where run_id = ${runId} and observation_id > ${after} and person_id is not null
    order by observation_id
    limit ${observationsPerBatch}
  `.execute(database);
  const keys = rows.flatMap((row) => row.identity_keys);
  const hashes = keys
    .filter((key) => key.startsWith('email:'))
    .flatMap((key) => emailHashes(key.slice('email:'.length)).map((hash) => `hash:${hash}`));
  return {
    keys: [...keys, ...hashes],
    last: rows.length < observationsPerBatch ? null : rows.at(-1)!.observation_id,
  };
}

async function rowsByKeys(
  database: Kysely<Tables>,
  { runId, service }: { readonly runId: string; readonly service: string },
  keys: readonly string[],
): Promise<RowElsewhere[]> {
  if (keys.length === 0) return [];
  const { rows } = await sql<RowElsewhere>`
    select distinct on (source, r.contact_id) r.run_id as "runId", coalesce(runs.source, 'generic') as source,
      r.contact_id as "contactId", r.row_number as "rowNumber"
    from run_rows r
    join runs on runs.run_id = r.run_id
    where r.match_keys && ${matchKeysOfIdentityKeys(keys)}::integer[]
      and r.run_id <> ${runId}
      and r.outcome <> 'suppressed'
      and runs.finished_at is not null
      and runs.status <> 'planned'
      and runs.undone_at is null
      and runs.options ->> 'service' = ${service}
      and not exists (
        select from contacts c where c.source = coalesce(runs.source, 'generic') and c.contact_id = r.contact_id)
    order by source, r.contact_id, runs.created_at desc, r.row_number
  `.execute(database);
  return rows;
}

/** Leaves out rows whose contact a later run has again. */
async function newestOnly(
  database: Kysely<Tables>,
  rows: readonly RowElsewhere[],
): Promise<readonly RowElsewhere[]> {
  if (rows.length === 0) return rows;
  const { rows: later } = await sql<{ place: string }>`
    select distinct f.place
    from unnest(${rows.map((row) => row.runId)}::text[], ${rows.map(({ contactId }) => contactId)}::text[])
      with ordinality as f (run_id, contact_id, place)
    join runs on runs.run_id = f.run_id
    join runs later on coalesce(later.source, 'generic') = coalesce(runs.source, 'generic')
      and later.created_at > runs.created_at
      and later.finished_at is not null
    join run_rows n on n.run_id = later.run_id and n.contact_id = f.contact_id
  `.execute(database);
  const stale = new Set(later.map(({ place }) => Number(place) - 1));
  return rows.filter((_, index) => !stale.has(index));
}

/** Row numbers of people who are not on the suppression list. */
async function notListed(
  database: Kysely<Tables>,
  runId: string,
  numbers: readonly number[],
): Promise<readonly number[]> {
  if (!(await hasSuppressions(database))) return numbers;
  const { rows } = await sql<{ row_number: number }>`
    ${listedRows(keysOfRows(runId, sql`select unnest(${numbers}::int[])`))}
  `.execute(database);
  const listed = new Set(rows.map(({ row_number }) => row_number));
  return numbers.filter((number) => !listed.has(number));
}
