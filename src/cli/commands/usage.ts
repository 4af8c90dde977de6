import { storeCreditStatement } from '../../calls/service-status.ts';
import { serviceName } from '../../config/settings.ts';
import { formatCredits, type Credits } from '../../domain/money/decimal.ts';
import { exitCodes } from '../../domain/problem.ts';
import { callsLeft } from '../../domain/rates/rate-limit.ts';
import type { PollDependencies } from '../../late-results/sync-late-results.ts';
import { reconcileCredits } from '../../ledger/credit-statements.ts';
import type { CreditUsage, OperationUsage } from '../../service/client.ts';
import { ServiceFailure } from '../../service/failures/failure.ts';
import {
  withSession,
  type Session,
  readSettings,
  readSettingsOfExistingWarehouse,
} from '../session/session.ts';
import { withSessionClient } from '../session/with-service.ts';
import { Command, type CommonFlags } from '../terminal/command.ts';
import { formatRecords, print, printFacts, printJson, printProgress } from '../terminal/output.ts';

export function usageCommand(): Command {
  return new Command('usage')
    .description('Show how much of the service’s rate windows and credits is used and left. Costs nothing.')
    .option('--reconcile', 'compare the service’s statement with the warehouse by credit cycle')
    .json()
    .examples(`
  enrich usage
  enrich usage --reconcile`)
    .explain(`
Needs a master key, or a key with the scope for usage statistics. If the service states only a part, the exit code is 3.
The service states windows of a minute, an hour and a day. A window without a limit does not mean that calls are
unlimited: another window, such as --rate-limits 20/10s of the sandbox, can limit them.
--reconcile: of the held credits, the service has billed at most what is billed and not settled. Unexplained credits
are beyond both: those of another program, or of calls that the warehouse lacks (docs/guides/budgets.md).`)
    .action(async ({ json, reconcile }: CommonFlags & { readonly reconcile?: boolean }) => {
      const config = reconcile === true ? readSettingsOfExistingWarehouse() : readSettings();
      await withSession(config, { temporal: false, service: true }, (session) =>
        withSessionClient(session, (dependencies) =>
          reconcile === true
            ? reconcileStatements(session, dependencies, json)
            : showUsage(dependencies, json),
        ),
      );
    });
}

/** Prints the rate windows and credits that the service states. Fails only if the service states neither. */
async function showUsage({ client }: PollDependencies, json: boolean | undefined): Promise<void> {
  const [calls, statement] = await Promise.allSettled([client.apiUsage(), client.creditUsage()]);
  if (calls.status === 'rejected' && statement.status === 'rejected') throw calls.reason;
  const windows = statedBy(calls, 'rate windows')?.flatMap(windowsOf) ?? null;
  const usage = statedBy(statement, 'credits');
  const credits = usage && inDecimals(usage);
  if (json === true) return printJson({ windows, credits });
  if (windows?.length)
    print(formatRecords(windows.map((each) => ({ ...each, limit: each.limit ?? 'unlimited' }))));
  if (!credits) return;
  const { start_date: start, end_date: end } = credits.cycle;
  print(formatRecords(credits.kinds) + (end === null ? '' : `\n  credit cycle ${start ?? ''} to ${end}`));
}

/** Returns what the service reports. If the service refuses, the operator sees why, and the result is null. */
function statedBy<Stated>(result: PromiseSettledResult<Stated>, what: string): Stated | null {
  if (result.status === 'fulfilled') return result.value;
  if (!(result.reason instanceof ServiceFailure)) throw result.reason;
  printProgress(`the service does not state the ${what}: ${result.reason.sentence}`);
  process.exitCode = exitCodes.needsOperator;
  return null;
}

/** Makes a printed row for each rate window of an operation. */
function windowsOf({ path, action, windows }: OperationUsage) {
  return windows.map((each) => ({
    operation: `${path} ${action}`,
    window: each.window,
    limit: each.limit,
    used: each.used,
    left: typeof each.limit === 'number' ? callsLeft(each) : each.left,
  }));
}

/** Formats credits as decimal text. Null: unlimited or not stated. */
function inDecimals({ kinds, cycle }: CreditUsage) {
  const decimal = (value: Credits | undefined): string | null =>
    value === undefined ? null : formatCredits(value);
  return {
    kinds: kinds.map(({ name, limit, consumed, left }) => ({
      name,
      limit: decimal(limit),
      consumed: decimal(consumed),
      left: decimal(left),
    })),
    cycle: { start_date: cycle.startDate ?? null, end_date: cycle.endDate ?? null },
  };
}

/** Stores the service's present statement, and compares all statements with the warehouse by credit cycle. */
async function reconcileStatements(
  { config, warehouse, log }: Session,
  dependencies: PollDependencies,
  json: boolean | undefined,
): Promise<void> {
  const missing = await storeCreditStatement({ ...dependencies, log }, undefined);
  if (missing !== undefined) {
    printProgress(`the service gave no statement now: ${missing}; the figures are from earlier statements`);
    process.exitCode = exitCodes.needsOperator;
  }
  const cycles = await reconcileCredits(warehouse.database, serviceName(config));
  const nothing =
    'nothing to compare: the service has not stated its credit usage twice in one credit cycle (each run asks at its ' +
    'start and end; the key must be a master key or have the scope for usage statistics)';
  const text = cycles.length === 0 ? nothing : formatRecords(cycles);
  printFacts(json, { missing_statement: missing ?? null, cycles }, text);
}
