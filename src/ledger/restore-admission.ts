import { sql } from 'kysely';
import { formatCredits } from '../domain/money/decimal.ts';
import type { Warehouse } from '../db/database.ts';
import type { AdmissionLimits, AdmissionRequest } from './admit.ts';
import { ownLimits } from './credit-ledger.ts';
import { bulkMatchScope } from './rate-windows.ts';
import { hashToken } from './webhook-token.ts';

/** A call that was admitted, with the rows that the budgets could pay for. */
export interface AdmittedCall extends AdmissionRequest {
  readonly token: string | undefined;
}

/**
 * Admits a call again that was sent, and whose admission the database has lost, as after a failover to a replica that
 * lagged behind. Occupies a slot and reserves its credits whatever the limits are: the service may have billed it.
 *
 * @returns whether the admission was lost. The database may have lost the run too: then nothing can be restored
 */
export async function restoreAdmission(
  warehouse: Warehouse,
  { rateLimits, budgets }: Pick<AdmissionLimits, 'rateLimits' | 'budgets'>,
  call: AdmittedCall,
): Promise<boolean> {
  const { attemptId, runId, batch, rowNumbers, token, deadlineSeconds } = call;
  const perPerson = formatCredits(call.creditsPerPerson);
  const calls = [
    {
      attempt_id: attemptId,
      batch,
      token_hash: token === undefined ? null : hashToken(token).toString('hex'),
      row_numbers: rowNumbers,
      people: rowNumbers.length,
    },
  ];
  return warehouse.database.transaction().execute(async (transaction) => {
    const lost = await sql<{ budgets: string[] }>`
      select open_budgets(run_id, ${ownLimits(budgets)}::jsonb) as budgets from runs
      where run_id = ${runId} and not exists (select from attempts where attempt_id = ${attemptId})
    `.execute(transaction);
    const opened = lost.rows[0]?.budgets;
    if (opened === undefined) return false;
    // The order of the locks is that of admissions.
    await sql`select lock_endpoint(${bulkMatchScope})`.execute(transaction);
    await sql`
      update budgets b set reserved = reserved + ${perPerson}::numeric * ${rowNumbers.length}
      from (select budget_id from budgets where budget_id = any(${opened}::text[]) order by budget_id for update) locked
      where b.budget_id = locked.budget_id
    `.execute(transaction);
    await sql`
      select occupy_slots(array[${attemptId}::text], ${bulkMatchScope}, ${deadlineSeconds}::float8,
          ${rateLimits.map(({ seconds }) => seconds)}::integer[]),
        open_attempts(${runId}, ${JSON.stringify(calls)}::jsonb, ${perPerson}::numeric, ${opened}::text[])
    `.execute(transaction);
    return true;
  });
}
