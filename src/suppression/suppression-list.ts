import { createHash } from 'node:crypto';
import { sql, type Kysely, type RawBuilder, type Transaction } from 'kysely';
import type { DecisionNote } from '../domain/problem.ts';
import type { Warehouse } from '../db/database.ts';
import { isTransactionConflict } from '../db/postgres-errors.ts';
import { formsOfKey, isIdentifyingKey } from '../keys/key-lookups.ts';
import type { Tables } from '../db/schema.ts';

/** An entry of the suppression list, which stores hashes of people's keys, and domains as text. */
export interface SuppressionEntry {
  /** First characters of the hash of a person or domain on the suppression list, enough to tell entries apart. */
  readonly entry: string;
  readonly kind: string;
  readonly domain: string | null;
  readonly reason: string | null;
  readonly added_by: string;
  readonly added_at: Date;
}

/** Locks the list for a change. Like in `withSuppressionsLocked`, it must be the transaction's first lock. */
export async function lockSuppressionsExclusive(transaction: Transaction<Tables>): Promise<void> {
  await sql`select pg_advisory_xact_lock(suppressions_lock())`.execute(transaction);
}

/**
 * Runs a transaction that writes about people while the suppression list cannot change, so that it writes nothing about
 * a person who is suppressed meanwhile. It runs again after a conflict: it cannot lock all contacts at its start,
 * because one decision leads to the next.
 */
export async function withSuppressionsLocked<Result>(
  database: Kysely<Tables>,
  work: (transaction: Transaction<Tables>) => Promise<Result>,
): Promise<Result> {
  for (;;)
    try {
      return await database.transaction().execute(async (transaction) => {
        await sql`select lock_suppressions()`.execute(transaction);
        return work(transaction);
      });
    } catch (error) {
      if (!isTransactionConflict(error)) throw error;
    }
}

/** SQL query of the `row_number` of rows with a suppressed key. */
export function suppressedRows(keys: RawBuilder<unknown>): RawBuilder<unknown> {
  return sql`select distinct row_number from (${listedEntries(keys)}) listed_entries`;
}

/**
 * SQL query of `row_number` and `entry_id`: the rows with a suppressed key, and the entries of the list.
 *
 * @param keys query of `row_number` and `identity_key`; an employer's domain has a key like `domain:acme.example`
 */
function listedEntries(keys: RawBuilder<unknown>): RawBuilder<unknown> {
  // The query uses joins, because PostgreSQL would otherwise look up two million keys one by one.
  return sql`
    select k.row_number, s.entry_id
    from (${keys}) k
    cross join lateral suppression_hashes(k.identity_key) as form (key_hash)
    join suppressed_keys s using (key_hash)
    union (
      -- Each domain is listed with its parent domains, so that an index finds it. Comparing 200,000 keys with 50 listed
      -- domains took 70 s.
      with named as materialized (
        select row_number, substring(identity_key from '^(?:domain:|email:[^|]*@)([^|]+)') as domain
        from (${keys}) all_keys
        where starts_with(identity_key, 'domain:') or starts_with(identity_key, 'email:')
      ), listed as (
        select distinct d.domain, e.entry_id
        from (select distinct domain, string_to_array(domain, '.') as labels from named) d
        cross join lateral generate_subscripts(d.labels, 1) as first_label
        join suppression_entries e on e.kind = 'domain' and e.domain = array_to_string(d.labels[first_label:], '.')
      )
      select row_number, entry_id from named join listed using (domain)
    )
  `;
}

/** True if the list has an entry. For an empty list `suppressedRows` is slower, and delayed nightly batches. */
export async function hasSuppressions(database: Kysely<Tables>): Promise<boolean> {
  const { rows } = await sql<{
    any: boolean;
  }>`select exists (select 1 from suppression_entries) as any`.execute(database);
  return rows[0]!.any;
}

/** Adds identity keys and `domain:` keys to the list, and returns the number of new entries. */
export async function addSuppressions(
  transaction: Transaction<Tables>,
  keys: readonly string[],
  note: DecisionNote,
): Promise<number> {
  await lockSuppressionsExclusive(transaction);
  const added = await sql`
    insert into suppression_entries (entry_id, kind, domain, reason, added_by)
    select distinct sha256(convert_to(identity_key, 'UTF8')), split_part(identity_key, ':', 1),
      case when identity_key like 'domain:%' then substr(identity_key, 8) end, ${note.reason ?? null}::text, ${note.by}
    from unnest(${keys}::text[]) as identity_key
    on conflict do nothing
  `.execute(transaction);
  await sql`
    insert into suppressed_keys (key_hash, entry_id)
    select sha256(convert_to(form, 'UTF8')), sha256(convert_to(identity_key, 'UTF8'))
    from unnest(${keys}::text[]) as identity_key, unnest(${formsOfKey(sql`identity_key`)}::text[]) as form
    where identity_key not like 'domain:%'
    on conflict do nothing
  `.execute(transaction);
  return Number(added.numAffectedRows ?? 0n);
}

/** Adds the people of a staged export to the list. @returns how many keys are new, and which rows have none */
export async function suppressStagedPeople(
  warehouse: Warehouse,
  runId: string,
  note: DecisionNote,
): Promise<{
  readonly added: number;
  readonly namelessRows: number;
  readonly firstNameless: readonly number[];
}> {
  return warehouse.database.transaction().execute(async (transaction) => {
    const named = await sql<{ key: string }>`
      select distinct identity_key as key from run_rows, unnest(keys) as identity_key where run_id = ${runId}
    `.execute(transaction);
    const nameless = await sql<{ namelessRows: number; firstNameless: number[] }>`
      select count(*)::int as "namelessRows",
        coalesce((array_agg(row_number order by row_number))[:5], '{}') as "firstNameless"
      from run_rows
      where run_id = ${runId} and keys = '{}'
    `.execute(transaction);
    const keys = named.rows.map(({ key }) => key);
    return { added: await addSuppressions(transaction, keys, note), ...nameless.rows[0]! };
  });
}

/** Removes entries from the suppression list. @returns number of removed entries */
export async function removeSuppressions(warehouse: Warehouse, keys: readonly string[]): Promise<number> {
  return warehouse.database.transaction().execute(async (transaction) => {
    await lockSuppressionsExclusive(transaction);
    const hashes = keys.map((key) => createHash('sha256').update(key).digest());
    const removed = await sql`
      delete from suppression_entries where entry_id = any(${hashes}::bytea[])
    `.execute(transaction);
    return Number(removed.numAffectedRows);
  });
}

/** Reads the rows with a suppressed key. @param keys as `listedEntries` takes them */
export async function readSuppressedRows(
  database: Kysely<Tables>,
  keys: RawBuilder<unknown>,
): Promise<ReadonlySet<number>> {
  if (!(await hasSuppressions(database))) return new Set();
  const { rows } = await sql<{ row_number: number }>`${suppressedRows(keys)}`.execute(database);
  return new Set(rows.map((row) => row.row_number));
}

/** Returns for each key, in order, the entries of the suppression list that apply to the key. */
export async function findSuppressions(
  database: Kysely<Tables>,
  keys: readonly string[],
): Promise<SuppressionEntry[][]> {
  const given = sql`
    select *
    from unnest(${keys.map((_, index) => index)}::int[], ${keys}::text[]) as g (row_number, identity_key)
  `;
  const { rows } = await sql<SuppressionEntry & { row_number: number }>`
    select listed.row_number, left(encode(e.entry_id, 'hex'), 12) as entry, e.kind, e.domain, e.reason, e.added_by,
      e.added_at
    from (${listedEntries(given)}) listed
    join suppression_entries e using (entry_id)
    order by e.added_at, e.entry_id
  `.execute(database);
  return keys.map((_, index) =>
    rows.flatMap(({ row_number: number, ...entry }) => (number === index ? [entry] : [])),
  );
}

/** Lists entries of the suppression list, the newest first. @param limit maximum number of entries */
export async function listSuppressions(warehouse: Warehouse, limit: number): Promise<SuppressionEntry[]> {
  const { rows } = await sql<SuppressionEntry>`
    select left(encode(e.entry_id, 'hex'), 12) as entry, e.kind, e.domain, e.reason, e.added_by, e.added_at
    from suppression_entries e
    order by added_at desc, kind, entry_id
    limit ${limit}
  `.execute(warehouse.database);
  return rows;
}

/** Counts the entries by kind of key, such as `email` or `domain`. */
export async function countSuppressions(warehouse: Warehouse): Promise<Record<string, number>> {
  const { rows } = await sql<{ kind: string; entries: number }>`
    select kind, count(*)::int as entries from suppression_entries group by kind order by kind
  `.execute(warehouse.database);
  return Object.fromEntries(rows.map(({ kind, entries }) => [kind, entries]));
}

/**
 * Adds the keys of rows to the entries of the suppressed people that an answer returned for them. Otherwise the next
 * run would pay for an answer that may not be stored. The keys go when their entry is removed.
 *
 * @param theirs numbers of rows, and for each the number of its person in `keys`
 * @param keys query of `row_number` and `identity_key`
 */
export async function extendSuppressions(
  transaction: Transaction<Tables>,
  runId: string,
  theirs: readonly { readonly rowNumber: number; readonly person: number }[],
  keys: RawBuilder<unknown>,
): Promise<void> {
  if (theirs.length === 0) return;
  // Keys are inserted in their order, so that two answers about one person cannot deadlock.
  await sql`
    insert into suppressed_keys (key_hash, entry_id)
    select distinct sha256(convert_to(form.key, 'UTF8')), listed.entry_id
    from unnest(${theirs.map(({ rowNumber }) => rowNumber)}::int[], ${theirs.map(({ person }) => person)}::int[])
      as t (row_number, person)
    join (${listedEntries(keys)}) listed on listed.row_number = t.person
    join run_rows r on r.run_id = ${runId} and r.row_number = t.row_number
    cross join unnest(r.keys) as own (identity_key)
    cross join unnest(${formsOfKey(sql`own.identity_key`)}::text[]) as form (key)
    where ${isIdentifyingKey(sql`own.identity_key`)}
    order by 1, 2
    on conflict do nothing
  `.execute(transaction);
}

/** Beginning of a {@link hiddenId}. */
const hidden = 'suppressed-';
const hashLength = 24;

/** SQL expression: the `hiddenId` of an id, in a table with the column `attempt_id`. */
function hiddenForm(id: RawBuilder<unknown>): RawBuilder<unknown> {
  return sql`
    ${hidden} || left(encode(sha256(convert_to(attempt_id || E'\n' || ${id}, 'UTF8')), 'hex'), ${hashLength})`;
}

/**
 * Hides suppressed or erased people in the records of calls: replaces their ids by `hiddenId`, and removes the hashes
 * of their e-mails. The hidden id still shows that a late result belongs to the call, so that its price counts.
 */
export async function hideSuppressedPeople(
  transaction: Transaction<Tables>,
  attemptIds: readonly string[],
  personIds: readonly string[],
): Promise<void> {
  await sql`
    update attempts set found_ids = array(
      select case when id = any(${personIds}::text[]) then ${hiddenForm(sql`id`)} else id end
      from unnest(found_ids) with ordinality as known (id, place)
      order by place)
    where attempt_id = any(${attemptIds}::text[]) and found_ids && ${personIds}::text[]
  `.execute(transaction);
  await sql`
    update expected_results set person_id = ${hiddenForm(sql`person_id`)}, email_hashes = '{}'
    where attempt_id = any(${attemptIds}::text[]) and person_id = any(${personIds}::text[])
  `.execute(transaction);
}

export function isHiddenId(id: string): boolean {
  return id.startsWith(hidden);
}

/**
 * The text that replaces the id of a suppressed or erased person in the records of a call. A late result with the id
 * has the same hash, so its price counts for the call.
 */
export function hiddenId(attemptId: string, personId: string): string {
  return hidden + hashForAttempt(attemptId, personId);
}

/** The hash by which stored results of deliveries identify a person of a call, also after this person's erasure. */
export function hashPersonForAttempt(attemptId: string, personId: string): string {
  return isHiddenId(personId) ? personId.slice(hidden.length) : hashForAttempt(attemptId, personId);
}

/** A hash of a value of a person in a call. The same value has another hash in each call. */
export function hashForAttempt(attemptId: string, value: string): string {
  return createHash('sha256').update(`${attemptId}\n${value}`).digest('hex').slice(0, hashLength);
}
