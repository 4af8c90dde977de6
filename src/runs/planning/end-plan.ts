import { sql } from 'kysely';
import type { Warehouse } from '../../db/database.ts';
import { isUnfinished, maySpend } from '../../db/run-states.ts';
import { setRunStatus } from '../runs.ts';
import { removeRunBudget } from '../../ledger/credit-ledger.ts';

/** Deletes the staged rows of a run that only planned, and ends the run. */
export async function endPlan(warehouse: Warehouse, runId: string): Promise<void> {
  await discardStagedRows(warehouse, runId);
  await setRunStatus(warehouse, runId, 'planned', undefined);
}

/** Removes the rows of plans that a killed command left behind. After a day, no command is still planning. */
export async function discardAbandonedPlans(warehouse: Warehouse): Promise<void> {
  const left = await warehouse.database
    .selectFrom('runs')
    .select('run_id')
    .where(isUnfinished)
    .where((run) => run.not(maySpend))
    .where(sql<boolean>`created_at < now() - interval '1 day'`)
    .execute();
  for (const { run_id: runId } of left) await endPlan(warehouse, runId);
}

async function discardStagedRows({ database }: Warehouse, runId: string): Promise<void> {
  await database.deleteFrom('run_rows').where('run_id', '=', runId).execute();
  await database.deleteFrom('run_people').where('run_id', '=', runId).execute();
}

/** Lets PostgreSQL reuse the space of deleted rows, and frees disk space at the end of the tables. */
export async function vacuumPlannedRows({ database }: Warehouse): Promise<void> {
  await sql`vacuum run_rows, run_people`.execute(database);
}

export async function removePlans({ database }: Warehouse): Promise<void> {
  const plans = await database
    .deleteFrom('runs')
    .where('status', '=', 'planned')
    .where((run) => run.not(maySpend))
    .returning('run_id')
    .execute();
  for (const { run_id: runId } of plans) await removeRunBudget(database, runId);
}
