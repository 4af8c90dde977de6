import { createHash } from 'node:crypto';
import { sql, type Kysely, type RawBuilder, type Transaction } from 'kysely';
import type { Warehouse } from '../db/database.ts';
import type { SuppressionEntriesTable, Tables } from '../db/schema.ts';

/** Who put people on the list, and why. */
export interface SuppressionNote {
  readonly by: string;
  readonly reason: string | undefined;
}

export interface SuppressionEntry {
  /** The beginning of its hash: enough to tell entries apart. */
  readonly entry: string;
  readonly kind: SuppressionEntriesTable['kind'];
  readonly domain: string | null;
  readonly reason: string | null;
  readonly added_by: string;
  readonly added_at: Date;
}

/** Any number that no other person locks. */
const listLock = 7_305_902_312;

/**
 * Held by a transaction that is about to write what the service said of people: no person is put on the list between
 * its look at the list and its end, so that nothing is written of a person who is already erased. The first lock of
 * every transaction that takes it, since whoever changes the list waits for all of them.
 */
export async function lockSuppressionsShared(transaction: Transaction<Tables>): Promise<void> {
  await sql`select pg_advisory_xact_lock_shared(${listLock})`.execute(transaction);
}

/** Held by a transaction that changes the list. */
export async function lockSuppressionsExclusive(transaction: Transaction<Tables>): Promise<void> {
  await sql`select pg_advisory_xact_lock(${listLock})`.execute(transaction);
}

/**
 * The rows that are on the list, as a query with the one column `row_number`.
 *
 * @param keys a query of `row_number` and `identity_key`; the domain of an employer is a key of the form
 *   `domain:acme.example`
 */
export function listedRows(keys: RawBuilder<unknown>): RawBuilder<unknown> {
  // By joins and not row by row: of two million keys, each would otherwise be looked up for itself.
  return sql`
    select k.row_number from (${keys}) k cross join lateral suppression_hashes(k.identity_key) as form (key_hash)
      join suppressed_keys s using (key_hash)
    union (
      -- Each domain with all that it lies below, so that it is looked up: compared with every domain on the list, 200,000 keys and
      -- 50 domains took 70 s.
      with named as materialized (
        select row_number, substring(identity_key from '^(?:domain:|email:[^|]*@)([^|]+)') as domain from (${keys}) all_keys
        where starts_with(identity_key, 'domain:') or starts_with(identity_key, 'email:')
      ), listed as (
        select distinct d.domain from (select distinct domain, string_to_array(domain, '.') as labels from named) d
        cross join lateral generate_subscripts(d.labels, 1) as first_label
        join suppression_entries e on e.kind = 'domain' and e.domain = array_to_string(d.labels[first_label:], '.')
      )
      select row_number from named join listed using (domain)
    )
  `;
}

/**
 * Whether anybody is on the list. Asked before `listedRows` is: that query is large, and with an empty list it kept the
 * batches of a night from their turn for some calls of a backfill.
 */
export async function hasSuppressions(database: Kysely<Tables>): Promise<boolean> {
  const { rows } = await sql<{
    any: boolean;
  }>`select exists (select 1 from suppression_entries) as any`.execute(database);
  return rows[0]!.any;
}

/**
 * Over `r`, a staged row, and `runs`, its run: the key of the CRM record that the row is of. Null where the export has no
 * record id. Files without a named source share no ids, so that there the name is part of the key.
 */
export const recordKey = sql`
  case
    when r.contact_id ~ '^(key|row|erased):' then null
    when coalesce(runs.source, 'generic') <> 'generic' then 'record:' || runs.source || '/' || r.contact_id
    else 'record:generic/' || r.contact_id || '|' || lower(coalesce(r.first_name || ' ' || r.last_name, r.name))
  end
`;

/** Keys of staged rows, with their employers' domains and their CRM records. */
export function keysOfRows(runId: string, rowNumbers: RawBuilder<unknown>): RawBuilder<unknown> {
  return sql`
    select r.row_number, identity_key
    from run_rows r
    join runs on runs.run_id = r.run_id,
    unnest(r.keys || ('domain:' || r.domain) || ${recordKey}) as identity_key
    where r.run_id = ${runId} and r.row_number in (${rowNumbers}) and identity_key is not null
  `;
}

/** What a staged row says of a person on the list is not kept: they may want to be in no file of ours. */
export const clearPersonalData = sql`raw = '[]', person_id = null, email = null, other_emails = null, hashed_email = null,
  profile_url = null, first_name = null, last_name = null, name = null, organization_name = null, domain = null, keys = '{}', match_keys = '{}'`;

const hidden = 'suppressed-';

/**
 * A column of ids at the service without those of some people. Their places stay: how many there were is counted by
 * them.
 */
export function withoutIds(column: string, personIds: readonly string[]): RawBuilder<unknown> {
  return sql`array(
    select case when id = any(${personIds}::text[]) then ${hidden} || place else id end
    from unnest(${sql.ref(column)}) with ordinality as known (id, place) order by place)`;
}

/** @returns whether this stands where an id was taken out */
export function isHiddenId(id: string): boolean {
  return id.startsWith(hidden);
}

/** What is kept in place of an id. @param place so that several stay several */
export function hiddenId(place: number): string {
  return `${hidden}${place}`;
}

/**
 * Puts people on the list: from now on they are not asked for, and nothing is written about them.
 *
 * @param keys identity keys, and `domain:` keys
 * @returns how many of them are new
 */
export async function suppress(
  transaction: Transaction<Tables>,
  keys: readonly string[],
  note: SuppressionNote,
): Promise<number> {
  await lockSuppressionsExclusive(transaction);
  const added = await sql`
    insert into suppression_entries (entry_id, kind, domain, reason, added_by)
    select distinct sha256(convert_to(identity_key, 'UTF8')), split_part(identity_key, ':', 1),
      case when identity_key like 'domain:%' then substr(identity_key, 8) end, ${note.reason ?? null}::text, ${note.by}
    from unnest(${keys}::text[]) as identity_key
    on conflict do nothing
  `.execute(transaction);
  // A plain address also answers to its hashes: another export may hold only those.
  await sql`
    insert into suppressed_keys (key_hash, entry_id)
    select sha256(convert_to(form, 'UTF8')), sha256(convert_to(identity_key, 'UTF8'))
    from unnest(${keys}::text[]) as identity_key, unnest(
      case when identity_key like 'email:%' and position('|' in identity_key) = 0 then array[identity_key,
        'hash:' || md5(substr(identity_key, 7)), 'hash:' || encode(sha256(convert_to(substr(identity_key, 7), 'UTF8')), 'hex')]
      else array[identity_key] end) as form
    where identity_key not like 'domain:%'
    on conflict do nothing
  `.execute(transaction);
  return Number(added.numAffectedRows ?? 0n);
}

/**
 * Puts everybody on the list whom a staged export names. @returns how many of their keys are new, and rows that name no
 * person
 */
export async function suppressStaged(
  warehouse: Warehouse,
  runId: string,
  note: SuppressionNote,
): Promise<{ readonly added: number; readonly namelessRows: number }> {
  return warehouse.database.transaction().execute(async (transaction) => {
    const named = await sql<{ key: string }>`
      select distinct identity_key as key from run_rows, unnest(keys) as identity_key where run_id = ${runId}
    `.execute(transaction);
    const nameless = await sql<{ rows: number }>`
      select count(*)::int as rows from run_rows where run_id = ${runId} and keys = '{}'
    `.execute(transaction);
    const added = await suppress(
      transaction,
      named.rows.map(({ key }) => key),
      note,
    );
    return { added, namelessRows: nameless.rows[0]!.rows };
  });
}

/** Takes entries off the list. @returns how many were on it */
export async function unsuppress(warehouse: Warehouse, keys: readonly string[]): Promise<number> {
  return warehouse.database.transaction().execute(async (transaction) => {
    await lockSuppressionsExclusive(transaction);
    const removed = await sql`
      delete from suppression_entries where entry_id = any(${keys.map(sha256)}::bytea[])
    `.execute(transaction);
    return Number(removed.numAffectedRows ?? 0n);
  });
}

/** @returns for each key, in their order, whether whoever it names is on the list */
export async function areSuppressed(database: Kysely<Tables>, keys: readonly string[]): Promise<boolean[]> {
  if (!(await hasSuppressions(database))) return keys.map(() => false);
  const given = sql`select * from unnest(${keys.map((_, index) => index)}::int[], ${keys}::text[]) as g (row_number, identity_key)`;
  const { rows } = await sql<{ row_number: number }>`${listedRows(given)}`.execute(database);
  const listed = new Set(rows.map((row) => row.row_number));
  return keys.map((_, index) => listed.has(index));
}

/** The newest first. @param limit the most that are returned */
export async function listSuppressions(warehouse: Warehouse, limit: number): Promise<SuppressionEntry[]> {
  const { rows } = await sql<SuppressionEntry>`
    select left(encode(entry_id, 'hex'), 12) as entry, kind, domain, reason, added_by, added_at
    from suppression_entries order by added_at desc, kind, entry_id limit ${limit}
  `.execute(warehouse.database);
  return rows;
}

/** How many entries there are of each kind. */
export async function countSuppressions(warehouse: Warehouse): Promise<Record<string, number>> {
  const { rows } = await sql<{ kind: string; entries: number }>`
    select kind, count(*)::int as entries from suppression_entries group by kind order by kind
  `.execute(warehouse.database);
  return Object.fromEntries(rows.map(({ kind, entries }) => [kind, entries]));
}

function sha256(key: string): Buffer {
  return createHash('sha256').update(key).digest();
}
