import { sql, type Kysely, type RawBuilder, type Transaction } from 'kysely';
import type { Warehouse } from '../db/database.ts';
import { UsageProblem, type Problem } from '../domain/problem.ts';
import type { Tables } from '../db/schema.ts';
import { unnestContacts, type ContactKey } from '../keys/contact-key.ts';

/** One change of a contact for incremental readers. A deletion has only the contact's key. */
export interface FeedEntry {
  readonly cursor: string;
  readonly operation: 'upsert' | 'delete';
  readonly source: string;
  readonly contact_id: string;
  /** Groups of fields whose values changed, named after their first column. */
  readonly groups: readonly string[];
  readonly changed_at: Date;
}

const pageSize = 10_000;

/**
 * Reads changes in the order of the feed.
 *
 * Reads only transactions older than the oldest one in progress. Otherwise a transaction that commits late would put
 * its changes before a reader's cursor. A slow transaction delays readers, but no reader misses a change.
 *
 * @param since cursor of the last change that was read; undefined: from the beginning
 * @param limit maximum number; undefined: all that can be read now
 * @throws Problem as {@link requireReadable}; `changes.cursor-too-old` also if the beginning is no longer kept
 */
export async function* readChanges(
  database: Kysely<Tables>,
  { since, limit }: { readonly since: string | undefined; readonly limit: number | undefined },
): AsyncGenerator<FeedEntry> {
  let cursor = since;
  for (let left = limit ?? Number.POSITIVE_INFINITY; left > 0;) {
    const page = await readPage(database, cursor, Math.min(left, pageSize));
    // After reading: retention can remove changes between two pages.
    if (cursor === undefined) await requireBeginning(database);
    else await requireReadable(database, cursor);
    yield* page;
    left -= page.length;
    if (page.length < pageSize) return;
    cursor = page.at(-1)!.cursor;
  }
}

/**
 * @returns the cursor after the newest change that can be read now, or that retention has removed; undefined if there
 *   has never been a change
 */
export async function newestCursor(database: Kysely<Tables>): Promise<string | undefined> {
  const { rows } = await sql<{ cursor: string }>`
    select transaction_id || '-' || change_id as cursor
    from (
      (
        select transaction_id, change_id
        from changes
        where transaction_id < pg_snapshot_xmin(pg_current_snapshot())
        order by transaction_id desc, change_id desc
        limit 1
      )
      union all
      select pruned_transaction_id, pruned_change_id from changes_pruned
    ) newest
    order by transaction_id desc, change_id desc
    limit 1
  `.execute(database);
  return rows[0]?.cursor;
}

const readFeed =
  'give the cursor of the last line of enrich changes; without --since the feed is read from its beginning';

/**
 * Parses a cursor into the two numbers that order the feed.
 *
 * @param next the next step in the error, because commands get their cursors from different places
 */
export function parseCursor(
  cursor: string,
  next = readFeed,
): { readonly transaction: string; readonly change: string } {
  const [, transaction, change] = /^(\d{1,19})-(\d{1,18})$/.exec(cursor.trim()) ?? [];
  if (transaction !== undefined && change !== undefined) return { transaction, change };
  throw new UsageProblem('changes.cursor-invalid', `"${cursor}" is no cursor`, { where: '--since', next });
}

async function readPage(
  database: Kysely<Tables>,
  cursor: string | undefined,
  limit: number,
): Promise<FeedEntry[]> {
  const { transaction, change } =
    cursor === undefined ? { transaction: '0', change: '0' } : parseCursor(cursor);
  const { rows } = await sql<FeedEntry>`
    select transaction_id || '-' || change_id as cursor, operation, source, contact_id,
      field_groups as groups, changed_at
    from changes
    where (transaction_id, change_id) > (${transaction}::xid8, ${change}::bigint)
      and transaction_id < pg_snapshot_xmin(pg_current_snapshot())
    order by transaction_id, change_id
    limit ${limit}
  `.execute(database);
  return rows;
}

const readAnew =
  'write all contacts with enrich export --output FILE --json, and continue after the cursor that it prints';

/**
 * Refuses a cursor after which changes are missing. A cursor of another warehouse, or of one that was restored from an
 * older backup, would read nothing or skip changes, without an error.
 *
 * @param next as for {@link parseCursor}
 * @throws Problem `changes.cursor-invalid`, `changes.cursor-too-old`, `changes.cursor-ahead`
 */
export async function requireReadable(
  database: Kysely<Tables>,
  cursor: string,
  next?: string,
): Promise<void> {
  const { transaction, change } = parseCursor(cursor, next);
  const { rows } = await sql<{ isPruned: boolean; isAhead: boolean }>`
    select
      exists (
        select 1
        from changes_pruned
        where (${transaction}::xid8, ${change}::bigint) < (pruned_transaction_id, pruned_change_id)
      ) as "isPruned",
      ${transaction}::xid8 >= pg_snapshot_xmin(pg_current_snapshot()) as "isAhead"
  `.execute(database);
  const { isPruned, isAhead } = rows[0]!;
  if (isPruned)
    throw unreadable('changes.cursor-too-old', `changes after the cursor ${cursor} are no longer kept`);
  if (isAhead)
    throw unreadable(
      'changes.cursor-ahead',
      `the cursor ${cursor} is newer than this feed: it is of another warehouse, or from before a restore`,
    );
}

/** Refuses to read from the beginning if retention has removed changes: a replica would lack contacts. */
async function requireBeginning(database: Kysely<Tables>): Promise<void> {
  const pruned = await database.selectFrom('changes_pruned').select('singleton').executeTakeFirst();
  if (pruned) throw unreadable('changes.cursor-too-old', 'the oldest changes are no longer kept');
}

function unreadable(type: string, what: string): Problem {
  return new UsageProblem(type, what, { where: '--since', next: readAnew });
}

/**
 * Begins the feed anew if the warehouse was restored into another server. Each server counts its own transactions, so
 * restored entries can have numbers that this server reaches years later: until then readers would not see the entries,
 * and every cursor of this server would be older than the restored end of the removed changes. Afterwards readers start
 * with an export.
 *
 * @returns whether the feed has begun anew
 */
export async function renewRestoredFeed(database: Kysely<Tables>): Promise<boolean> {
  const isAhead = sql`>= pg_snapshot_xmax(pg_current_snapshot())`;
  const { rows } = await sql<{ isRestored: boolean }>`
    select
      exists (select 1 from changes where transaction_id ${isAhead})
        or exists (select 1 from changes_pruned where pruned_transaction_id ${isAhead}) as "isRestored"
  `.execute(database);
  if (!rows[0]!.isRestored) return false;
  await sql`
    with dropped as (
      delete from changes
      where transaction_id ${isAhead} or transaction_id < pg_snapshot_xmin(pg_current_snapshot())
      returning change_id
    )
    insert into changes_pruned (singleton, pruned_transaction_id, pruned_change_id)
    select true, (pg_snapshot_xmin(pg_current_snapshot())::text::bigint - 1)::text::xid8,
      coalesce(max(change_id), 0)
    from dropped
    on conflict (singleton) do update
      set pruned_transaction_id = excluded.pruned_transaction_id, pruned_change_id = excluded.pruned_change_id
  `.execute(database);
  return true;
}

/**
 * Removes the entries that say what changed in contacts that no longer have a person. Their deletions stay, so that
 * readers can remove their copies.
 */
export async function forgetUpserts(
  transaction: Transaction<Tables>,
  contacts: readonly ContactKey[],
): Promise<void> {
  await sql`
    delete from changes
    using ${unnestContacts(contacts)} as gone (source, contact_id)
    where changes.source = gone.source
      and changes.contact_id = gone.contact_id
      and operation = 'upsert'
      and not exists (select from contacts c where c.source = gone.source and c.contact_id = gone.contact_id)
  `.execute(transaction);
}

/** SQL: changes older than a time that every reader could have read. @param before null: none */
function oldChanges(before: RawBuilder<Date | null>): RawBuilder<unknown> {
  return sql`
    from changes
    where changed_at < ${before}
      and transaction_id < pg_snapshot_xmin(pg_current_snapshot())`;
}

/** Counts changes that are older than a time. @param before null: none */
export async function countOldChanges(
  { database }: Warehouse,
  before: RawBuilder<Date | null>,
): Promise<number> {
  const { rows } = await sql<{ count: number }>`select count(*)::int as count ${oldChanges(before)}`.execute(
    database,
  );
  return rows[0]!.count;
}

/**
 * Drops changes that are older than a time, oldest first, and records the last dropped change. A reader with an older
 * cursor gets an error.
 *
 * @param before null: nothing is dropped
 * @param signal ends it between two batches
 * @returns how many were dropped
 */
export async function pruneChanges(
  { database }: Warehouse,
  before: RawBuilder<Date | null>,
  signal: AbortSignal,
): Promise<number> {
  let total = 0;
  while (!signal.aborted) {
    const { rows } = await sql<{ dropped: number }>`
      with old as (
        select change_id ${oldChanges(before)}
        order by transaction_id, change_id
        limit ${pageSize}
      ), dropped as (
        delete from changes
        where change_id in (select change_id from old)
        returning transaction_id, change_id
      ), newest as (
        select transaction_id, change_id from dropped
        order by transaction_id desc, change_id desc
        limit 1
      ), marked as (
        insert into changes_pruned as p (singleton, pruned_transaction_id, pruned_change_id)
        select true, transaction_id, change_id from newest
        on conflict (singleton) do update
          set pruned_transaction_id = excluded.pruned_transaction_id, pruned_change_id = excluded.pruned_change_id
          where (p.pruned_transaction_id, p.pruned_change_id)
            < (excluded.pruned_transaction_id, excluded.pruned_change_id)
      )
      select count(*)::int as dropped from dropped
    `.execute(database);
    const { dropped } = rows[0]!;
    total += dropped;
    if (dropped < pageSize) break;
  }
  return total;
}
