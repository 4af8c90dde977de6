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
  /** By `performance.now()`. */
  readonly admittedAt: number;
}

/**
 * Admits a call again that was sent, and whose admission the database has lost, as after a failover to a replica that
 * lagged behind. Occupies a slot and reserves its credits whatever the limits are: the service may have billed it. The
 * times of the call stay, because they order answers, refusals for rate and what the service reports about its windows.
 *
 * @returns whether the admission was lost. The database may have lost the run too: then nothing can be restored
 */
export async function restoreAdmission(
  warehouse: Warehouse,
  { rateLimits, budgets }: Pick<AdmissionLimits, 'rateLimits' | 'budgets'>,
  call: AdmittedCall,
): Promise<boolean> {
  const { attemptId, runId, batch, rowNumbers, token, deadlineSeconds, admittedAt } = call;
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
  const lost = sql<{ budgets: string[] }>`
    select open_budgets(run_id, ${ownLimits(budgets)}::jsonb) as budgets from runs
    where run_id = ${runId} and not exists (select from attempts where attempt_id = ${attemptId})
  `;
  return warehouse.database.transaction().execute(async (transaction) => {
    if ((await lost.execute(transaction)).rows.length === 0) return false;
    // The order of the locks is that of admissions.
    await sql`select lock_endpoint(${bulkMatchScope})`.execute(transaction);
    // Again with the lock: a session whose connection was lost may have restored the call meanwhile.
    const opened = (await lost.execute(transaction)).rows[0]?.budgets;
    if (opened === undefined) return false;
    await sql`
      update budgets b set reserved = reserved + ${perPerson}::numeric * ${rowNumbers.length}
      from (select budget_id from budgets where budget_id = any(${opened}::text[]) order by budget_id for update) locked
      where b.budget_id = locked.budget_id
    `.execute(transaction);
    const secondsAgo = (performance.now() - admittedAt) / 1_000;
    await sql`
      select occupy_slots(array[${attemptId}::text], ${bulkMatchScope}, ${deadlineSeconds - secondsAgo}::float8,
          ${rateLimits.map(({ seconds }) => seconds)}::integer[]),
        open_attempts(${runId}, ${JSON.stringify(calls)}::jsonb, ${perPerson}::numeric, ${opened}::text[])
    `.execute(transaction);
    await sql`
      with slot as (
        update rate_calls set started_at = started_at - make_interval(secs => ${secondsAgo})
        where call_id = ${attemptId}
      )
      update attempts set admitted_at = admitted_at - make_interval(secs => ${secondsAgo})
      where attempt_id = ${attemptId}
    `.execute(transaction);
    return true;
  });
}
