import { sql, type RawBuilder } from 'kysely';

/**
 * Whose late results are synced: those of one run, or those of runs that have ended or lost their workflow.
 */
export type LateScope = { readonly runId: string } | 'unattended';

/** A run with a workflow makes a due poll within this time, unless a rate window is full. */
const attendedSeconds = 15 * 60;

/**
 * SQL condition: whether work of a run, due at a time, is in a scope. A terminated workflow leaves no mark, so a run
 * counts as unattended if its work is long overdue. Taking work from a run that is only slow does no harm, because each
 * effect happens once.
 *
 * @param runId, due expressions of SQL
 */
export function isInScope(
  scope: LateScope,
  runId: RawBuilder<unknown>,
  due: RawBuilder<unknown>,
): RawBuilder<boolean> {
  if (scope !== 'unattended') return sql`${runId} = ${scope.runId}`;
  return sql`(${due} < clock_timestamp() - make_interval(secs => ${attendedSeconds})
    or exists (select 1 from runs r where r.run_id = ${runId} and r.finished_at is not null))`;
}
