import { sql } from 'kysely';
import type { Warehouse } from '../../db/database.ts';
import { isUnfinished, maySpend } from '../../db/run-states.ts';
import { setRunStatus } from '../runs.ts';
import { removeRunBudget } from '../../ledger/credit-ledger.ts';

/** Each command that stages an export only to plan it holds this lock, shared, on its own connection. */
const planLock = sql.lit(4_207_311);

/**
 * Stages and plans under a lock that a killed process loses with its connection. If no other command holds the lock,
 * killed commands have left the unfinished plans: their rows are discarded first.
 */
export async function withPlanLock<Result>(
  warehouse: Warehouse,
  work: () => Promise<Result>,
): Promise<Result> {
  return warehouse.database.connection().execute(async (connection) => {
    const alone = await sql<{ alone: boolean }>`select pg_try_advisory_lock(${planLock}) as alone`.execute(
      connection,
    );
    if (alone.rows[0]!.alone) {
      try {
        await discardLeftPlans(warehouse);
      } finally {
        await sql`select pg_advisory_unlock(${planLock})`.execute(connection);
      }
    }
    await sql`select pg_advisory_lock_shared(${planLock})`.execute(connection);
    try {
      return await work();
    } finally {
      await sql`select pg_advisory_unlock_shared(${planLock})`.execute(connection);
    }
  });
}

export async function endPlan(warehouse: Warehouse, runId: string): Promise<void> {
  await discardStagedRows(warehouse, runId);
  await setRunStatus(warehouse, runId, 'planned', undefined);
}

async function discardLeftPlans(warehouse: Warehouse): Promise<void> {
  const left = await warehouse.database
    .selectFrom('runs')
    .select('run_id')
    .where(isUnfinished)
    .where((run) => run.not(maySpend))
    .execute();
  for (const { run_id: runId } of left) await endPlan(warehouse, runId);
}

async function discardStagedRows({ database }: Warehouse, runId: string): Promise<void> {
  await database.deleteFrom('run_rows').where('run_id', '=', runId).execute();
  await database.deleteFrom('run_people').where('run_id', '=', runId).execute();
}

/** Makes the space of deleted rows reusable, and frees disk space at the end of the tables. */
export async function giveSpaceBack({ database }: Warehouse): Promise<void> {
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
