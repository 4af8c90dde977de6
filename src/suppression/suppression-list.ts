import { createHash } from 'node:crypto';
import { sql, type Kysely, type RawBuilder, type Transaction } from 'kysely';
import type { Note } from '../domain/note.ts';
import type { Warehouse } from '../db/database.ts';
import { anyValue, rowCount } from '../db/expressions.ts';
import { suppressionsLock } from '../db/suppressions-lock.ts';
import { formsOfKey } from '../keys/hashed-addresses.ts';
import type { Tables } from '../db/schema.ts';

export interface SuppressionEntry {
  /** First characters of its hash, enough to tell entries apart. */
  readonly entry: string;
  readonly kind: Tables['suppression_entries']['kind'];
  readonly domain: string | null;
  readonly reason: string | null;
  readonly added_by: string;
  readonly added_at: Date;
}

/** Locks the list for a transaction that changes it, before any other lock: `writeAboutPeople` locks it first. */
export async function lockSuppressionsExclusive(transaction: Transaction<Tables>): Promise<void> {
  await sql`select pg_advisory_xact_lock(${suppressionsLock})`.execute(transaction);
}

/** Query for the rows with a suppressed key; its column is `row_number`. @param keys as `listedEntries` takes them */
export function listedRows(keys: RawBuilder<unknown>): RawBuilder<unknown> {
  return sql`select distinct row_number from (${listedEntries(keys)}) listed_entries`;
}

/**
 * Query for the rows with a suppressed key, and the entries of the list; its columns are `row_number` and `entry_id`.
 *
 * @param keys query of `row_number` and `identity_key`; the domain of an employer is a key of the form
 *   `domain:acme.example`
 */
export function listedEntries(keys: RawBuilder<unknown>): RawBuilder<unknown> {
  // Joins, because two million keys would otherwise be looked up one by one.
  return sql`
    select k.row_number, s.entry_id
    from (${keys}) k
    cross join lateral suppression_hashes(k.identity_key) as form (key_hash)
    join suppressed_keys s using (key_hash)
    union (
      -- Each domain with its parent domains, so that an index finds it. Comparing 200,000 keys with 50 listed
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

/**
 * Returns whether the list has an entry. Cheaper than `listedRows`: with an empty list that query delayed nightly
 * batches behind calls of a backfill.
 */
export async function hasSuppressions(database: Kysely<Tables>): Promise<boolean> {
  const { rows } = await sql<{
    any: boolean;
  }>`select exists (select 1 from suppression_entries) as any`.execute(database);
  return rows[0]!.any;
}

/**
 * Adds people to the list. Afterwards no call asks for them, and nothing is written about them.
 *
 * @param keys identity keys, and `domain:` keys
 * @returns how many of them are new
 */
export async function suppress(
  transaction: Transaction<Tables>,
  keys: readonly string[],
  note: Note,
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

/** Adds the people of a staged export. @returns how many keys are new, and which rows have no key */
export async function suppressStaged(
  warehouse: Warehouse,
  runId: string,
  note: Note,
): Promise<{
  readonly added: number;
  readonly namelessRows: number;
  readonly firstNameless: readonly number[];
}> {
  return warehouse.database.transaction().execute(async (transaction) => {
    const named = await sql<{ key: string }>`
      select distinct identity_key as key from run_rows, unnest(keys) as identity_key where run_id = ${runId}
    `.execute(transaction);
    const nameless = await transaction
      .selectFrom('run_rows')
      .select([
        rowCount.as('rows'),
        sql<number[]>`coalesce((array_agg(row_number order by row_number))[:5], '{}')`.as('first'),
      ])
      .where('run_id', '=', runId)
      .where('keys', '=', sql<string[]>`'{}'`)
      .executeTakeFirstOrThrow();
    const added = await suppress(
      transaction,
      named.rows.map(({ key }) => key),
      note,
    );
    return { added, namelessRows: nameless.rows, firstNameless: nameless.first };
  });
}

/** Removes entries. @returns how many were on the list */
export async function unsuppress(warehouse: Warehouse, keys: readonly string[]): Promise<number> {
  return warehouse.database.transaction().execute(async (transaction) => {
    await lockSuppressionsExclusive(transaction);
    const removed = await transaction
      .deleteFrom('suppression_entries')
      .where('entry_id', '=', anyValue(keys.map(sha256)))
      .executeTakeFirst();
    return Number(removed.numDeletedRows);
  });
}

/** Reads the rows with a suppressed key. @param keys as `listedEntries` takes them */
export async function readListedRows(
  database: Kysely<Tables>,
  keys: RawBuilder<unknown>,
): Promise<ReadonlySet<number>> {
  if (!(await hasSuppressions(database))) return new Set();
  const { rows } = await sql<{ row_number: number }>`${listedRows(keys)}`.execute(database);
  return new Set(rows.map((row) => row.row_number));
}

/** Returns for each key, in order, whether it is suppressed. */
export async function areSuppressed(database: Kysely<Tables>, keys: readonly string[]): Promise<boolean[]> {
  const given = sql`
    select *
    from unnest(${keys.map((_, index) => index)}::int[], ${keys}::text[]) as g (row_number, identity_key)
  `;
  const listed = await readListedRows(database, given);
  return keys.map((_, index) => listed.has(index));
}

/** Lists entries, the newest first. @param limit maximum number of entries */
export async function listSuppressions(warehouse: Warehouse, limit: number): Promise<SuppressionEntry[]> {
  const { rows } = await sql<SuppressionEntry>`
    select left(encode(entry_id, 'hex'), 12) as entry, kind, domain, reason, added_by, added_at
    from suppression_entries order by added_at desc, kind, entry_id limit ${limit}
  `.execute(warehouse.database);
  return rows;
}

export async function countSuppressions(warehouse: Warehouse): Promise<Record<string, number>> {
  const rows = await warehouse.database
    .selectFrom('suppression_entries')
    .select(['kind', rowCount.as('entries')])
    .groupBy('kind')
    .orderBy('kind')
    .execute();
  return Object.fromEntries(rows.map(({ kind, entries }) => [kind, entries]));
}

function sha256(key: string): Buffer {
  return createHash('sha256').update(key).digest();
}
