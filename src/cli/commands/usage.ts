import { keepCreditStatement } from '../../calls/service/keep-credit-statement.ts';
import { serviceName } from '../../config/settings.ts';
import { formatCredits, type Credits } from '../../domain/money/decimal.ts';
import { exitCodes, Problem } from '../../domain/problem.ts';
import { callsLeft } from '../../domain/rates/rate-limit.ts';
import { formatNumber } from '../../domain/text/format.ts';
import { reconcileCredits } from '../../ledger/credit-statements.ts';
import type { CreditUsage, OperationUsage } from '../../service/client.ts';
import { ServiceFailure } from '../../service/failures/failure.ts';
import { conclusionsOf, reconciliationTable } from '../run/describe/describe-reconciliation.ts';
import { withSession } from '../session/session.ts';
import { settingsOf, settingsOfExisting } from '../session/settings-flags.ts';
import { withService, withSessionClient } from '../session/with-service.ts';
import { Command, jsonOption, type JsonFlag } from '../terminal/command.ts';
import { print, printJson, table, tell } from '../terminal/output.ts';

/** `enrich usage`: what the service says about calls and credits. */
export function usageCommand(): Command {
  return new Command('usage')
    .description('Show how much of the service’s rate windows and credits is used and left. Costs nothing.')
    .option('--reconcile', 'compare the service’s statement with the warehouse by credit cycle')
    .option(...jsonOption)
    .explain(`
Needs a master key, or a key with the scope for usage statistics. If the service states only the rate windows or only
the credits, the exit code is 3.

Examples:
  enrich usage
  enrich usage --reconcile`)
    .action((options: JsonFlag & { readonly reconcile?: boolean }) =>
      options.reconcile === true ? reconcile(options) : showUsage(options),
    );
}

async function showUsage(options: JsonFlag): Promise<void> {
  await withService(settingsOf(options), async (client, { baseUrl }) => {
    const [calls, statement] = await Promise.allSettled([client.apiUsage(), client.creditUsage()]);
    if (calls.status === 'rejected' && statement.status === 'rejected')
      throw notOffered(calls.reason, baseUrl);
    const operations = statedBy(calls, 'rate windows', 'RATE_LIMITS applies');
    const credits = statedBy(statement, 'credits', 'enrich budget show says what this product has counted');
    const windows = operations?.flatMap(windowsOf) ?? null;
    if (options.json === true) return printJson({ windows, credits: credits && inDecimals(credits) });
    if (windows)
      print(
        table([
          ['operation', 'window', 'limit', 'used', 'left'],
          ...windows.map((each) => [
            each.operation,
            each.window,
            cell(each.limit),
            cell(each.used),
            cell(each.left),
          ]),
        ]),
      );
    if (windows && credits) print('');
    if (credits) print(describeCredits(credits));
  });
}

/** What the service states; null if it refuses, which the command says. */
function statedBy<Stated>(result: PromiseSettledResult<Stated>, what: string, next: string): Stated | null {
  if (result.status === 'fulfilled') return result.value;
  if (!(result.reason instanceof ServiceFailure)) throw result.reason;
  tell(`the service does not state the ${what}: ${result.reason.sentence}; ${next}`);
  process.exitCode = exitCodes.needsPerson;
  return null;
}

/** The general advice of these failures is for paused runs. */
function notOffered(failure: unknown, baseUrl: string): unknown {
  const isOffered =
    !(failure instanceof ServiceFailure) || (failure.type !== 'not-found' && failure.type !== 'forbidden');
  if (isOffered) return failure;
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

function windowsOf({ path, action, windows }: OperationUsage) {
  return windows.map((each) => ({
    operation: `${path} ${action}`,
    window: each.window,
    limit: each.limit,
    used: each.used,
    left: typeof each.limit === 'number' ? callsLeft(each) : each.left,
  }));
}

function cell(count: number | null | undefined): string | number {
  return count === null ? 'unlimited' : (count ?? '-');
}

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

function describeCredits(usage: CreditUsage): string {
  const { kinds, cycle } = inDecimals(usage);
  const shown = (credits: string | null): string => (credits === null ? '-' : formatNumber(credits));
  const rows = kinds.map(({ name, limit, consumed, left }) => [
    name,
    shown(limit),
    shown(consumed),
    shown(left),
  ]);
  return [
    table([['credits', 'limit', 'used', 'left'], ...rows]),
    ...(cycle.end_date === null ? [] : [`\n  credit cycle ${cycle.start_date ?? ''} to ${cycle.end_date}`]),
  ].join('\n');
}

/** Fetches the newest statement from the service first, then compares all credit cycles and prints them. */
async function reconcile(options: JsonFlag): Promise<void> {
  const config = settingsOfExisting(options);
  await withSession(config, { temporal: false, service: true }, async (session) => {
    const missing = await withSessionClient(session, (dependencies) =>
      keepCreditStatement({ ...dependencies, log: session.log }, undefined),
    );
    if (missing !== undefined) {
      tell(`the service gave no statement now: ${missing}; the figures are from earlier statements`);
      process.exitCode = exitCodes.needsPerson;
    }
    const cycles = await reconcileCredits(session.warehouse.database, serviceName(config));
    if (options.json === true) return printJson({ missing_statement: missing ?? null, cycles });
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
