import { sql } from 'kysely';
import type { Warehouse } from '../../db/database.ts';
import { databaseErrorCode } from '../../db/postgres-errors.ts';
import { maySpend } from '../../db/run-states.ts';
import { removeRunBudget } from '../../ledger/credit-ledger.ts';

const lockNotAvailable = '55P03';

/**
 * Removes the staged rows of a run. If no other run has rows, the tables are truncated, which frees their disk space at
 * once. Deleted rows would keep it.
 */
export async function discardStagedRows(warehouse: Warehouse, runId: string): Promise<void> {
  if (await emptyTables(warehouse, runId)) return;
  await warehouse.database.deleteFrom('run_rows').where('run_id', '=', runId).execute();
  await warehouse.database.deleteFrom('run_people').where('run_id', '=', runId).execute();
}

/** @returns false if another run has rows, or a transaction uses the tables */
async function emptyTables({ database }: Warehouse, runId: string): Promise<boolean> {
  try {
    return await database.transaction().execute(async (transaction) => {
      await sql`lock table run_rows, run_people in access exclusive mode nowait`.execute(transaction);
      const others = await sql`
        select from run_rows where run_id < ${runId}
        union all
        select from run_rows where run_id > ${runId}
        union all
        select from run_people where run_id < ${runId}
        union all
        select from run_people where run_id > ${runId}
        limit 1
      `.execute(transaction);
      if (others.rows.length > 0) return false;
      await sql`truncate run_rows, run_people`.execute(transaction);
      return true;
    });
  } catch (error) {
    if (databaseErrorCode(error) !== lockNotAvailable) throw error;
    return false;
  }
}

/** Makes the space of deleted rows reusable, and frees disk space at the end of the tables. */
export async function giveSpaceBack({ database }: Warehouse): Promise<void> {
  await sql`vacuum run_rows, run_people`.execute(database);
}

/** Removes ended runs that only planned, with their budgets. */
export async function removePlans({ database }: Warehouse): Promise<void> {
  const plans = await database
    .deleteFrom('runs')
    .where('status', '=', 'planned')
    .where((run) => run.not(maySpend))
    .returning('run_id')
    .execute();
  for (const { run_id: runId } of plans) await removeRunBudget(database, runId);
}
