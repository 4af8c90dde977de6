import { sql } from 'kysely';
import type { Warehouse } from '../../db/database.ts';
import { isUnfinished, maySpend } from '../../db/run-states.ts';
import { setRunStatus } from '../runs.ts';
import { removeRunBudget } from '../../ledger/credit-ledger.ts';

/** Deletes the staged rows of a run that only planned, and ends the run. */
export async function endPlan(warehouse: Warehouse, runId: string): Promise<void> {
  await sql`delete from run_rows where run_id = ${runId}`.execute(warehouse.database);
  await sql`delete from run_people where run_id = ${runId}`.execute(warehouse.database);
  await setRunStatus(warehouse, runId, 'planned', undefined);
}

/** Removes the rows of plans that a killed command left behind. After a day, no command is still planning. */
export async function discardAbandonedPlans(warehouse: Warehouse): Promise<void> {
  const { rows } = await sql<{ runId: string }>`
    select run_id as "runId" from runs
    where ${isUnfinished} and not ${maySpend} and created_at < now() - interval '1 day'
  `.execute(warehouse.database);
  for (const { runId } of rows) await endPlan(warehouse, runId);
}

/** Lets PostgreSQL reuse the space of deleted rows, and frees disk space at the end of the tables. */
export async function vacuumPlannedRows({ database }: Warehouse): Promise<void> {
  await sql`vacuum run_rows, run_people`.execute(database);
}

/** Removes ended plans and their budgets. Runs that could spend credits stay. */
export async function removePlans({ database }: Warehouse): Promise<void> {
  const { rows } = await sql<{ runId: string }>`
    delete from runs where status = 'planned' and not ${maySpend} returning run_id as "runId"
  `.execute(database);
  for (const { runId } of rows) await removeRunBudget(database, runId);
}
