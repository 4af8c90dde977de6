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

/** Once for each scheduled time: Temporal may carry out the activity again. */
async function recordFailure(
  warehouse: Warehouse,
  { schedule, asOf }: ScheduledTime,
  { reason, next }: { readonly reason: string; readonly next: string },
): Promise<void> {
  const facts = { schedule, scheduled_at: asOf, reason: withoutPersonalData(reason), next };
  await sql`
    insert into notifications (event, facts)
    select 'failed', ${JSON.stringify(facts)}::jsonb
    where not exists (
      select
      from notifications
      where run_id is null and event = 'failed'
        and facts ->> 'schedule' = ${schedule} and facts ->> 'scheduled_at' = ${asOf})
  `.execute(warehouse.database);
}
