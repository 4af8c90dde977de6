import { sql, type RawBuilder } from 'kysely';
import { anyOf } from '../../db/one-of.ts';
import { maySpend } from '../../db/run-states.ts';
import { holdingStatuses } from '../../domain/money/attempt-status.ts';

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
