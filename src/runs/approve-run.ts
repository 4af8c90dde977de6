import { sql } from 'kysely';
import type { Warehouse } from '../db/database.ts';
import { isUnfinished } from '../db/run-states.ts';

/** Lets a run spend what its plan says. Its next status is `running` then, not `awaiting_approval`. */
export async function approveRun({ database }: Warehouse, runId: string): Promise<void> {
  await sql`
    update runs set approved_at = coalesce(approved_at, clock_timestamp())
    where run_id = ${runId} and ${isUnfinished}
  `.execute(database);
}
