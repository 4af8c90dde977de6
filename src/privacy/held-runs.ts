import { sql, type Kysely, type RawBuilder } from 'kysely';
import { exportOrder } from '../db/valid-entries.ts';
import type { Tables } from '../db/schema.ts';
import type { AttemptStatus } from '../domain/money/attempt-status.ts';

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

/** Query of the oldest export `o` of each source that has cells. @param loses condition: `o` does not count */
export const oldestWithCells = (loses: RawBuilder<boolean>): RawBuilder<unknown> => sql`
  select distinct on (source) *
  from runs o
  where rows_pruned < rows_staged and status <> 'planned' and not ${loses}
  order by source, ${sql.raw(exportOrder('o'))}`;

/** Condition: the run `r` is newer than the run `oldest` of its source. */
export const isNewerThanOldest = sql<boolean>`(
  oldest.source = r.source and ${sql.raw(exportOrder('oldest'))} < ${sql.raw(exportOrder('r'))})`;

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
      (
        select oldest.run_id from (${oldestWithCells(loses)}) oldest
        where r.run_id = any(${waiting}::text[]) and ${isNewerThanOldest}
      ) as waits_for
    from runs r
    where r.run_id = any(${runIds}::text[])
    order by r.created_at, r.run_id
  `.execute(database);
  return rows;
}
