import { keepCreditStatement } from '../../calls/credit-statement.ts';
import { serviceName } from '../../config/settings.ts';
import { formatCredits, storedCredits, type Credits } from '../../domain/money/decimal.ts';
import { exitCodes, Problem } from '../../domain/problem.ts';
import { callsLeft } from '../../domain/rates/rate-limit.ts';
import { reconcileCredits, type Reconciliation } from '../../ledger/credit-statements.ts';
import type { CreditUsage, OperationUsage } from '../../service/client.ts';
import { ServiceFailure } from '../../service/failures/failure.ts';
import { withSession } from '../session/session.ts';
import { settingsOf, settingsOfExisting } from '../session/command-settings.ts';
import { withService, withSessionClient } from '../session/with-service.ts';
import { Command, jsonOption, type JsonFlag } from '../terminal/command.ts';
import { listTable, print, printJson, tell } from '../terminal/output.ts';

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
  await withService(settingsOf(), async (client, { baseUrl }) => {
    const [calls, statement] = await Promise.allSettled([client.apiUsage(), client.creditUsage()]);
    if (calls.status === 'rejected' && statement.status === 'rejected')
      throw notOffered(calls.reason, baseUrl);
    const operations = statedBy(calls, 'rate windows', 'RATE_LIMITS applies');
    const credits = statedBy(statement, 'credits', 'enrich budget show says what this product has counted');
    const windows = operations?.flatMap(windowsOf) ?? null;
    if (options.json === true) return printJson({ windows, credits: credits && inDecimals(credits) });
    const shown = windows?.map((each) => ({
      ...each,
      limit: each.limit === null ? 'unlimited' : each.limit,
    }));
    if (shown?.length) print(listTable(shown));
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
  const ends =
    cycle.end_date === null ? '' : `\n  credit cycle ${cycle.start_date ?? ''} to ${cycle.end_date}`;
  return listTable(kinds) + ends;
}

/** Fetches the newest statement from the service first, then compares all credit cycles and prints them. */
async function reconcile(options: JsonFlag): Promise<void> {
  const config = settingsOfExisting();
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
    if (cycles.length === 0)
      return print(
        'nothing to compare: the service has not stated its credit usage twice in one credit cycle (each run asks at ' +
          'its start and end; the key must be a master key or have the scope for usage statistics)',
      );
    print(
      listTable(cycles, [
        'cycle_start',
        'cycle_end',
        'from',
        'to',
        'billed',
        'settled',
        'held',
        'unexplained',
      ]),
    );
    conclusionsOf(cycles).forEach(tell);
  });
}

/** What follows from the statements for held credits: those of the newest cycle, and of cycles with unknown calls. */
export function conclusionsOf(cycles: readonly Reconciliation[]): string[] {
  return cycles
    .filter((cycle, index) => index === 0 || storedCredits(cycle.unknown) > 0n)
    .map((cycle) => [nameOf(cycle), conclusionOf(cycle)] as const)
    .flatMap(([name, conclusion]) => (conclusion === undefined ? [] : [`${name}: ${conclusion}`]));
}

function nameOf({ cycle_start: start, cycle_end: end }: Reconciliation): string {
  return `${start ?? '?'} to ${end ?? '?'}`;
}

/**
 * Another program can have used credits that look like those of held calls, so the billed part of the held credits is
 * known only as a maximum.
 */
function conclusionOf({ billed, settled, held, unexplained }: Reconciliation): string | undefined {
  const unsettled = storedCredits(billed) - storedCredits(settled);
  if (unsettled < 0n)
    return (
      `the service has billed ${formatCredits(-unsettled)} credits less than are settled: it bills some calls later, ` +
      'or has returned credits; compare again after the next run'
    );
  if (storedCredits(held) === 0n) return undefined;
  if (storedCredits(unexplained) > 0n)
    return 'another program may have used credits: find held calls on the usage page of the service';
  return unsettled === 0n
    ? 'the service has billed none of the held credits: enrich attempts release ATTEMPT for calls of unknown cost'
    : `the service has billed at most ${formatCredits(unsettled)} of the held credits: ` +
        'enrich attempts settle ATTEMPT --credits N for each billed call of unknown cost';
}
