import { Command, jsonOption } from '../../terminal/command.ts';
import { formatCredits, type Credits } from '../../../domain/money/decimal.ts';
import { callsLeft } from '../../../domain/rates/rate-limit.ts';
import { exitCodes, Problem } from '../../../domain/problem.ts';
import { formatNumber } from '../../../domain/text/format-number.ts';
import type { CreditUsage, OperationUsage, ServiceClient } from '../../../service/client.ts';
import { ServiceFailure } from '../../../service/failures/failure.ts';
import { print, printJson, table, tell } from '../../terminal/output.ts';
import { serviceName, type Config } from '../../../config/settings.ts';
import { conclusionsOf, reconciliationTable } from '../../run/describe/describe-reconciliation.ts';
import { keepCreditStatement } from '../../../calls/service/keep-credit-statement.ts';
import { reconcileCredits } from '../../../ledger/credit-statements.ts';
import { settingsOfExisting, settingsOf, withSettings } from '../../session/settings-flags.ts';
import { withSession } from '../../session/session.ts';
import { withService, withSessionClient } from '../../session/with-service.ts';

export function usageCommand(): Command {
  return withSettings(new Command('usage'))
    .description('Show how much of the service’s rate windows and credits is used and left. Costs nothing.')
    .option('--reconcile', 'compare the service’s statement with the warehouse by credit cycle')
    .option(...jsonOption)
    .explain(`
Needs a master key, or a key with the scope for usage statistics. If the service states only the rate windows or only
the credits, the exit code is 3.

Examples:
  enrich usage
  enrich usage --reconcile`)
    .action(async (options: { json?: boolean; reconcile?: boolean }) => {
      if (options.reconcile === true) return reconcile(settingsOfExisting(options), options.json === true);
      await withService(settingsOf(options), async (client, { baseUrl }) => {
        const { operations, credits } = await readUsage(client, baseUrl);
        if (options.json === true) {
          printJson({ operations, credits: credits && inDecimals(credits) });
          return;
        }
        if (operations)
          print(table([['operation', 'window', 'limit', 'used', 'left'], ...operations.flatMap(rowsOf)]));
        if (operations && credits) print('');
        if (credits) printCredits(credits);
      });
    });
}

interface Usage {
  readonly operations: OperationUsage[] | null;
  readonly credits: CreditUsage | null;
}

/**
 * Asks for both statistics. If the service gives only one of them, for example because of the scopes of the key, says
 * what is missing.
 *
 * @throws Problem the service gives neither
 */
async function readUsage(client: ServiceClient, baseUrl: string): Promise<Usage> {
  const [calls, credits] = await Promise.allSettled([client.apiUsage(), client.creditUsage()]);
  if (calls.status === 'rejected' && credits.status === 'rejected')
    throw isNotOffered(calls.reason) ? notOffered(calls.reason, baseUrl) : calls.reason;
  return {
    operations: statedBy(calls, 'rate windows', 'RATE_LIMITS applies')?.map(withCallsLeft) ?? null,
    credits: statedBy(credits, 'credits', 'enrich budget show says what this product has counted'),
  };
}

function statedBy<Stated>(result: PromiseSettledResult<Stated>, what: string, next: string): Stated | null {
  if (result.status === 'fulfilled') return result.value;
  if (!(result.reason instanceof ServiceFailure)) throw result.reason;
  tell(`the service does not state the ${what}: ${result.reason.sentence}; ${next}`);
  process.exitCode = exitCodes.needsPerson;
  return null;
}

function printCredits({ kinds, cycle }: CreditUsage): void {
  print(
    table([
      ['credits', 'limit', 'used', 'left'],
      ...kinds.map(({ name, limit, consumed, left }) => [
        name,
        creditCell(limit),
        creditCell(consumed),
        creditCell(left),
      ]),
    ]),
  );
  if (cycle.endDate !== undefined) print(`\n  credit cycle ${cycle.startDate ?? ''} to ${cycle.endDate}`);
}

/** Fetches the newest statement from the service first, then compares all credit cycles and prints them. */
async function reconcile(config: Config, asJson: boolean): Promise<void> {
  await withSession(config, { temporal: false, service: true }, async (session) => {
    const { warehouse, log } = session;
    const missing = await withSessionClient(session, (dependencies) =>
      keepCreditStatement({ ...dependencies, log }, undefined),
    );
    if (missing !== undefined) {
      tell(`the service gave no statement now: ${missing}; the figures are from earlier statements`);
      process.exitCode = exitCodes.needsPerson;
    }
    const cycles = await reconcileCredits(warehouse.database, serviceName(config));
    if (asJson) return printJson({ missing_statement: missing ?? null, cycles });
    if (cycles.length > 0) {
      print(reconciliationTable(cycles));
      const conclusions = conclusionsOf(cycles);
      if (conclusions !== '') tell(conclusions);
      return;
    }
    print('nothing to compare: the service has not stated its credit usage twice in one credit cycle');
    tell(
      'each run asks at its start and end; the key must be a master key or have the scope for usage statistics',
    );
  });
}

function isNotOffered(error: unknown): error is ServiceFailure {
  return error instanceof ServiceFailure && (error.type === 'not-found' || error.type === 'forbidden');
}

/** These failures have advice for paused runs, which does not fit here. */
function notOffered(failure: ServiceFailure, baseUrl: string): Problem {
  const [what, next] =
    failure.type === 'forbidden'
      ? ['the credential may not read usage statistics', 'use a master key, or one with that scope']
      : ['this service offers no usage statistics', 'use the usage page of the service'];
  return new Problem('usage.not-offered', `${what} (HTTP ${failure.httpStatus ?? ''})`, {
    where: failure.where ?? baseUrl,
    next: `${next}; enrich budget show says what this product has counted`,
    cause: failure,
  });
}

/** Computes the calls left of a limit where the service does not state them. */
function withCallsLeft({ windows, ...operation }: OperationUsage): OperationUsage {
  return {
    ...operation,
    windows: windows.map((window) =>
      typeof window.limit === 'number' ? { ...window, left: callsLeft(window) } : window,
    ),
  };
}

function rowsOf({ path, action, windows }: OperationUsage): (string | number)[][] {
  return windows.map(({ window, limit, used, left }) => [
    `${path} ${action}`,
    window,
    cell(limit),
    cell(used),
    cell(left),
  ]);
}

function cell(count: number | null | undefined): string | number {
  return count === null ? 'unlimited' : (count ?? '-');
}

function creditCell(credits: Credits | undefined): string {
  return credits === undefined ? '-' : formatNumber(formatCredits(credits));
}

function inDecimals({ kinds, cycle }: CreditUsage) {
  return {
    kinds: kinds.map(({ name, limit, consumed, left }) => ({
      name,
      limit: decimal(limit) ?? null,
      consumed: decimal(consumed) ?? null,
      left: decimal(left) ?? null,
    })),
    cycle: { start_date: cycle.startDate, end_date: cycle.endDate },
  };
}

function decimal(value: Credits | undefined): string | undefined {
  return value === undefined ? undefined : formatCredits(value);
}
