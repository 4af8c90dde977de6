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
  /** Groups of fields with changed values. A group has the name of its first column. */
  readonly groups: readonly string[];
  readonly changed_at: Date;
}

const pageSize = 10_000;

/**
 * Reads the change feed in its order. This order is the order of commits, because only one digest at a time writes
 * changes.
 *
 * @param since cursor of the last change that the caller has read; undefined: read from the beginning
 * @param limit maximum number of changes; undefined: no limit
 * @throws Problem as {@link requireCursor}; `changes.cursor-too-old` also if retention has removed the beginning
 */
export async function* readChanges(
  database: Kysely<Tables>,
  { since, limit }: { readonly since: string | undefined; readonly limit: number | undefined },
): AsyncGenerator<FeedEntry> {
  let cursor = since;
  for (let left = limit ?? Number.POSITIVE_INFINITY; left > 0;) {
    const { rows: page } = await sql<FeedEntry>`
      select change_id::text as cursor, operation, source, contact_id, field_groups as groups, changed_at
      from changes
      where change_id > ${cursor === undefined ? '0' : parseCursor(cursor)}::bigint
      order by change_id
      limit ${Math.min(left, pageSize)}
    `.execute(database);
    // This check follows the reading, because retention can remove changes between two pages.
    if (cursor === undefined) await requireBeginning(database);
    else await requireCursor(database, cursor);
    yield* page;
    left -= page.length;
    if (page.length < pageSize) return;
    cursor = page.at(-1)!.cursor;
  }
}

/**
 * Reads the end of the change feed.
 *
 * @returns the cursor of the newest change, even if retention has removed this change; undefined if the feed is empty
 */
export async function newestCursor(database: Kysely<Tables>): Promise<string | undefined> {
  const { rows } = await sql<{ cursor: string | null }>`
    select greatest(
      (select max(change_id) from changes), (select pruned_change_id from changes_pruned))::text as cursor
  `.execute(database);
  return rows[0]?.cursor ?? undefined;
}

const readFeed =
  'give the cursor of the last line of enrich changes; without --since the feed is read from its beginning';

/**
 * Checks the form of a cursor of the change feed.
 *
 * @param next next step in the error message, because each command gets its cursor from another place
 * @throws Problem `changes.cursor-invalid`
 */
export function parseCursor(cursor: string, next = readFeed): string {
  if (/^\d{1,18}$/.test(cursor.trim())) return cursor.trim();
  throw new UsageProblem('changes.cursor-invalid', `"${cursor}" is no cursor`, { where: '--since', next });
}

/**
 * Refuses a cursor if changes after it are missing. Without this check, a cursor of another warehouse, or of one that
 * was restored from a backup, would skip changes without an error.
 *
 * @param next next step in the error message
 * @throws Problem `changes.cursor-invalid`, `changes.cursor-too-old`, `changes.cursor-ahead`
 */
export async function requireCursor(database: Kysely<Tables>, cursor: string, next?: string): Promise<void> {
  const change = parseCursor(cursor, next);
  const newest = await newestCursor(database);
  const { rows } = await sql<{ isPruned: boolean; isAhead: boolean }>`
    select
      exists (select from changes_pruned where ${change}::bigint < pruned_change_id) as "isPruned",
      ${change}::bigint > ${newest ?? '0'}::bigint as "isAhead"
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

/**
 * Refuses to read the feed from the beginning if retention has removed changes, because a replica would lack contacts.
 *
 * @throws Problem `changes.cursor-too-old`
 */
async function requireBeginning(database: Kysely<Tables>): Promise<void> {
  const pruned = await sql`select from changes_pruned`.execute(database);
  if (pruned.rows.length > 0)
    throw unreadable('changes.cursor-too-old', 'the oldest changes are no longer kept');
}

/** Error for a cursor that cannot be continued: the reader must copy all contacts again. */
function unreadable(type: string, what: string): Problem {
  return new UsageProblem(type, what, {
    where: '--since',
    next: 'write all contacts with enrich export --output FILE --json, and continue after the cursor that it prints',
  });
}

/**
 * Removes the upserts of contacts that no longer have a person from the change feed. The deletions of these contacts
 * stay, so that readers can remove their copies.
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

/** Counts the old changes in the change feed. @param before changes before this time are old; null: no change is old */
export async function countOldChanges({ database }: Warehouse, before: RawBuilder<Date | null>) {
  const { rows } = await sql<{ count: number }>`
    select count(*)::int as count from changes where changed_at < ${before}
  `.execute(database);
  return rows[0]!.count;
}

/**
 * Removes changes that are older than a time, and stores the id of the newest removed change. A reader with an older
 * cursor gets an error.
 *
 * @param before null: nothing is removed
 * @param signal aborts between two batches
 * @returns the number of removed changes
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
        select change_id
        from changes
        where changed_at < ${before}
        order by change_id
        limit ${pageSize}
      ), dropped as (
        delete from changes
        where change_id in (select change_id from old)
        returning change_id
      ), marked as (
        insert into changes_pruned as p (singleton, pruned_change_id)
        select true, max(change_id) from dropped having count(*) > 0
        on conflict (singleton) do update
          set pruned_change_id = greatest(p.pruned_change_id, excluded.pruned_change_id)
      )
      select count(*)::int as dropped from dropped
    `.execute(database);
    const { dropped } = rows[0]!;
    total += dropped;
    if (dropped < pageSize) break;
  }
  return total;
}
