import { recordCreditStatement, statementOf } from '../ledger/credit-statements.ts';
import type { Warehouse } from '../db/database.ts';
import { canSucceedLater, databaseErrorCode } from '../db/postgres-errors.ts';
import type { ServiceClient } from '../service/client.ts';
import { ServiceFailure } from '../service/failures/failure.ts';
import type { Logger } from '../telemetry/log.ts';

interface CreditStatementDependencies {
  readonly warehouse: Warehouse;
  /** Name of the service in the options of runs. */
  readonly service: string;
  readonly client: Pick<ServiceClient, 'creditUsage'>;
  readonly log: Logger;
}

/** Maximum wait for the statement. Without the statement the run continues. */
const patienceMilliseconds = 10_000;

/**
 * Reads from the service how many credits the team has consumed, and stores the statement. Workers do it before and
 * after a run, so that an operator can decide on calls of unknown cost. Costs nothing. If the key may not read usage,
 * nothing is stored.
 *
 * @param runId undefined outside of a run
 * @returns why no statement was stored; undefined if one was
 */
export async function keepCreditStatement(
  { warehouse, service, client, log }: CreditStatementDependencies,
  runId: string | undefined,
): Promise<string | undefined> {
  try {
    const usage = await client.creditUsage(AbortSignal.timeout(patienceMilliseconds));
    const statement = statementOf(usage);
    await recordCreditStatement(warehouse.database, { service, runId: runId ?? null }, statement);
    return statement.consumed === undefined ? 'a figure of the statement cannot be read' : undefined;
  } catch (error) {
    const why = whyMissing(error);
    if (why === undefined) throw error;
    log.debug({ runId, why }, 'the service states no credit usage');
    return why;
  }
}

/** Why there is no statement; undefined: the error concerns neither the service nor what it states. */
function whyMissing(error: unknown): string | undefined {
  if (error instanceof ServiceFailure) return error.message;
  const code = databaseErrorCode(error);
  return code === undefined || canSucceedLater(error) ? undefined : `the database refuses it (${code})`;
}
