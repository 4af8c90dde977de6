import { sql, type Kysely, type RawBuilder } from 'kysely';
import { exportOrder, maySpend } from '../db/run-states.ts';
import type { Tables } from '../db/schema.ts';
import { holdingStatuses, type AttemptStatus } from '../domain/money/attempt-status.ts';
import { anyOf } from '../db/expressions.ts';

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

/** The time before which data is removed; null without a retention. Not `clock_timestamp()`, which no index serves. */
export function before(seconds: number | undefined): RawBuilder<Date | null> {
  return sql`(now() - make_interval(secs => ${seconds ?? null}::float8))`;
}

/**
 * Condition: a run ended so long ago. A plan without approval deletes its rows when it ends; if it was killed, its rows
 * are removed after a day.
 *
 * @param run the name of the run in SQL
 */
export function isOldRun(seconds: number | undefined, run: 'r' | 'o' = 'r'): RawBuilder<boolean> {
  const [finished, created] = [sql.ref(`${run}.finished_at`), sql.ref(`${run}.created_at`)];
  const isAbandonedPlan = sql`(
    ${finished} is null and not ${maySpend} and ${created} < clock_timestamp() - interval '1 day')`;
  return sql`((${finished} < ${before(seconds)}) or (${isAbandonedPlan} and ${created} < ${before(seconds)}))`;
}

const soonDecided = holdingStatuses.filter((status) => status !== 'unknown');

/**
 * Condition: a run is quiet: no call of it awaits results, and no delivery waits to be applied. Late results are
 * assigned to contacts by the rows' data. A call of unknown cost can wait for its decision for ever, so it holds only
 * its own rows back.
 *
 * @param run the name of the run in SQL
 */
export function isQuietRun(run: 'r' | 'o' = 'r'): RawBuilder<boolean> {
  const id = sql.ref(`${run}.run_id`);
  return sql`(
    not exists (select 1 from attempts a where a.run_id = ${id} and a.status in (${anyOf(soonDecided)}))
    and not exists (select 1 from webhook_deliveries w where w.run_id = ${id} and w.status = 'received'))`;
}

/** Condition: a call of a run waits for a decision about its cost. @param run the name of the run in SQL */
export function hasUnknownCalls(run: 'r' | 'o' = 'r'): RawBuilder<boolean> {
  const id = sql.ref(`${run}.run_id`);
  return sql`exists (select 1 from attempts a where a.run_id = ${id} and a.status = 'unknown')`;
}
