import { sql, type Kysely, type RawBuilder } from 'kysely';
import { exportOrder } from '../../db/valid-entries.ts';
import type { Tables } from '../../db/schema.ts';
import { hasUnknownCalls } from './old-runs.ts';
import type { AttemptStatus } from '../../domain/money/attempt-status.ts';

/** A run with data that is older than its retention, and why the data is still needed. */
export interface HeldRun {
  readonly run_id: string;
  readonly has_ended: boolean;
  /** Calls that wait for a decision about their cost. */
  readonly unknown_calls: number;
  readonly awaiting_calls: number;
  readonly unread_deliveries: number;
  /** The earlier run of the source whose cells the rows of this run outdate; null: no run has such cells. */
  readonly waits_for: string | null;
}

/**
 * Query of the oldest export `o` of each source that has cells, except cells that calls of unknown cost need.
 *
 * @param loses condition: `o` does not count
 */
export const oldestWithCells = (loses: RawBuilder<boolean>): RawBuilder<unknown> => sql`
  select distinct on (source) *
  from runs o
  where (rows_pruned < rows_staged or (cells_left and not ${hasUnknownCalls('o')})) and status <> 'planned'
    and not ${loses}
  order by source, ${sql.raw(exportOrder('o'))}`;

/** Condition: the run `r` is newer than the run `oldest` of its source. */
export const isNewerThanOldest = sql<boolean>`(
  oldest.source = r.source and ${sql.raw(exportOrder('oldest'))} < ${sql.raw(exportOrder('r'))})`;

/**
 * Query of the rows that calls of unknown cost need of exports `u` that are older than the run `r` of the source. Until
 * then a newer row of such a contact stays: without it, the older cells would count as the newest.
 */
export const olderNeededRows = sql`
  select n.contact_id, u.run_id, ${sql.raw(exportOrder('u'))} as place
  from attempts a
  join attempt_people p using (attempt_id)
  join run_rows n on n.run_id = p.run_id and n.row_number = p.row_number
  join runs u on u.run_id = p.run_id
  where a.status = 'unknown' and u.source = r.source and ${sql.raw(exportOrder('u'))} < ${sql.raw(exportOrder('r'))}`;

/**
 * Says why runs are held, the oldest first.
 *
 * @param waiting of these runs, those whose rows are held
 * @param loses condition: a run `o` loses its cells in the same pruning
 */
export async function describeHeld(
  database: Kysely<Tables>,
  runIds: readonly string[],
  waiting: readonly string[],
  loses: RawBuilder<boolean>,
): Promise<HeldRun[]> {
  if (runIds.length === 0) return [];
  const calls = (status: AttemptStatus): RawBuilder<unknown> =>
    sql`(select count(*)::int from attempts where run_id = r.run_id and status = ${sql.lit(status)})`;
  const { rows } = await sql<HeldRun>`
    select r.run_id, r.finished_at is not null as has_ended, ${calls('unknown')} as unknown_calls,
      ${calls('awaiting')} as awaiting_calls,
      (select count(*)::int from webhook_deliveries where run_id = r.run_id and status = 'received')
        as unread_deliveries,
      case when r.run_id = any(${waiting}::text[]) then coalesce(
        (select oldest.run_id from (${oldestWithCells(loses)}) oldest where ${isNewerThanOldest}),
        (
          select needed.run_id from (${olderNeededRows}) needed
          join run_rows newer on newer.run_id = r.run_id and newer.contact_id = needed.contact_id
          order by needed.place
          limit 1
        )) end as waits_for
    from runs r
    where r.run_id = any(${runIds}::text[])
    order by r.created_at, r.run_id
  `.execute(database);
  return rows;
}
