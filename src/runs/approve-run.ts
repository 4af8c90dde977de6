import { sql } from 'kysely';
import type { Warehouse } from '../db/database.ts';
import { isUnfinished } from '../db/run-states.ts';
import { expectationUnmet } from './planning/export-profile.ts';
import { setRunStatus, type RunRecord } from './runs.ts';

/** Lets a run spend what its plan says. Its next status is `running` then, not `awaiting_approval`. */
export async function approveRun({ database }: Warehouse, runId: string): Promise<void> {
  await sql`
    update runs set approved_at = coalesce(approved_at, clock_timestamp())
    where run_id = ${runId} and ${isUnfinished}
  `.execute(database);
}

/**
 * Approves a run for `--yes`. As if the run had begun with `--yes`, an export that is not as expected pauses it: only a
 * person accepts such an export.
 *
 * @returns whether the run is paused
 */
export async function approveWithoutPerson(
  warehouse: Warehouse,
  { runId, isApproved, plan }: RunRecord,
): Promise<boolean> {
  const unmet = (!isApproved && plan?.unmet) || [];
  if (unmet.length > 0) await setRunStatus(warehouse, runId, 'paused', expectationUnmet(runId, unmet));
  await approveRun(warehouse, runId);
  return unmet.length > 0;
}

/**
 * Takes back the approval of a run that was paused before its plan. A command without `--yes` then shows the plan and
 * asks, also if the run was begun with `--yes`.
 */
export async function withdrawUnreadApproval({ database }: Warehouse, runId: string): Promise<void> {
  await sql`
    update runs set approved_at = null where run_id = ${runId} and status = 'paused' and plan is null
  `.execute(database);
}
