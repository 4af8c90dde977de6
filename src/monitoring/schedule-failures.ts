import { sql } from 'kysely';
import type { ScheduledRunInput, ScheduledRuns } from '../contract/scheduled-run-input.ts';
import type { Warehouse } from '../db/database.ts';
import { Problem } from '../domain/problem.ts';
import { counted } from '../domain/text/counted.ts';
import { withoutPersonalData } from '../domain/text/without-personal-data.ts';

type ScheduledTime = Pick<ScheduledRunInput, 'schedule'> & { readonly asOf: string };

/**
 * Begins the runs of a scheduled time, and records a notification if the time fails without a run: a missing export, or
 * files that cannot be read. A run that fails is notified by its status.
 */
export async function notifyingOfFailure(
  warehouse: Warehouse,
  time: ScheduledTime,
  begin: () => Promise<ScheduledRuns>,
): Promise<ScheduledRuns> {
  const again = `enrich schedule trigger ${time.schedule} begins a run now`;
  try {
    const begun = await begin();
    const [first] = begun.refused;
    if (first) {
      const count = counted(begun.refused.length, 'file');
      await recordFailure(warehouse, time, {
        reason: `${count} cannot be read, such as ${first.file}: ${first.reason}`,
        next: `enrich schedule show ${time.schedule} names the files; the next time reads them again; ${again}`,
      });
    }
    return begun;
  } catch (error) {
    // Temporal tries again after other errors.
    if (error instanceof Problem && error.type !== 'database.unreachable') {
      const where = error.where === undefined ? '' : ` (${error.where})`;
      await recordFailure(warehouse, time, {
        reason: `${error.message}${where}`,
        next: `${error.next}; then: ${again}`,
      });
    }
    throw error;
  }
}

/** A time that begins later than this after its scheduled moment is a missed time, such as one of a backfill. */
const missedAfterSeconds = 3_600;
/** A person needs one notification for a backfill, and not one for each of its times. */
const quietSeconds = 3_600;

/**
 * Once for each scheduled time: Temporal may carry out the activity again. Missed times that fail soon after another
 * missed time of the schedule are recorded and not notified.
 */
async function recordFailure(
  warehouse: Warehouse,
  { schedule, asOf }: ScheduledTime,
  { reason, next }: { readonly reason: string; readonly next: string },
): Promise<void> {
  const facts = { schedule, scheduled_at: asOf, reason: withoutPersonalData(reason), next };
  await sql`
    insert into notifications (event, facts, closed_at)
    select 'failed', ${JSON.stringify(facts)}::jsonb,
      case
        when ${asOf}::timestamptz < clock_timestamp() - make_interval(secs => ${missedAfterSeconds}) and exists (
          select
          from notifications
          where run_id is null and event = 'failed'
            and facts ->> 'schedule' = ${schedule}
            and (facts ->> 'scheduled_at')::timestamptz < occurred_at - make_interval(secs => ${missedAfterSeconds})
            and occurred_at > clock_timestamp() - make_interval(secs => ${quietSeconds}))
        then clock_timestamp()
      end
    where not exists (
      select
      from notifications
      where run_id is null and event = 'failed'
        and facts ->> 'schedule' = ${schedule} and facts ->> 'scheduled_at' = ${asOf})
  `.execute(warehouse.database);
}
