import { Command } from 'commander';
import { formatCredits, type Credits } from '../../../domain/money/decimal.ts';
import { callsLeft } from '../../../domain/rates/rate-limit.ts';
import { exitCodes, Problem } from '../../../domain/problem.ts';
import { formatNumber } from '../../../domain/text/format-number.ts';
import type { OutputOf } from '../../../outputs/outputs.ts';
import type { CreditUsage, OperationUsage } from '../../../service/client.ts';
import { ServiceFailure } from '../../../service/failures/failure.ts';
import { jsonOption } from '../../terminal/json-option.ts';
import { print, printJson, table, tell } from '../../terminal/output.ts';
import { serviceName, type Config } from '../../../config/settings.ts';
import { conclusionsOf, reconciliationTable } from '../../run/describe/describe-reconciliation.ts';
import { keepCreditStatement } from '../../../calls/service/keep-credit-statement.ts';
import { reconcileCredits } from '../../../ledger/credit-statements.ts';
import { settingsOfExisting } from '../../session/existing-warehouse.ts';
import { settingsOf, withSettings } from '../../session/settings-flags.ts';
import { withSession } from '../../session/session.ts';
import { withService, withSessionClient } from '../../session/with-service.ts';

export function usageCommand(): Command {
  return withSettings(new Command('usage'))
    .description('Show how much of the service’s rate windows and credits is used and left. Costs nothing.')
    .option('--reconcile', 'compare the service’s statement with the warehouse by credit cycle')
    .option(...jsonOption)
    .addHelpText(
      'after',
      '\nNeeds a master key, or a key with the scope for usage statistics.\n\nExamples:\n  enrich usage\n  ' +
        'enrich usage --reconcile',
    )
    .action(async (options: { json?: boolean; reconcile?: boolean }) => {
      if (options.reconcile === true) return reconcile(settingsOfExisting(options), options.json === true);
      await withService(settingsOf(options), async (client, service) => {
        const [stated, credits] = await Promise.all([client.apiUsage(), client.creditUsage()]).catch(
          (error: unknown) => {
            throw isNotOffered(error) ? notOffered(error, service) : error;
          },
        );
        const operations = stated.map(withCallsLeft);
        if (options.json === true) {
          printJson<'usage'>({ operations, credits: inDecimals(credits) });
          return;
        }
        print(table([['operation', 'window', 'limit', 'used', 'left'], ...operations.flatMap(rowsOf)]));
        print('');
        print(
          table([
            ['credits', 'limit', 'used', 'left'],
            ...credits.kinds.map((kind) => [
              kind.name,
              creditCell(kind.limit),
              creditCell(kind.consumed),
              creditCell(kind.left),
            ]),
          ]),
        );
        const { startDate, endDate } = credits.cycle;
        if (endDate !== undefined) print(`\n  credit cycle ${startDate ?? ''} to ${endDate}`);
      });
    });
}

/** Fetches the newest statement from the service first, then compares all credit cycles and prints them. */
async function reconcile(config: Config, asJson: boolean): Promise<void> {
  await withSession(config, { temporal: false, service: true }, async (session) => {
    const { warehouse, log } = session;
    const missing = await withSessionClient(session, (dependencies) =>
      keepCreditStatement({ ...dependencies, log }, undefined),
    );
    if (missing !== undefined) {
      tell(`The service gave no statement now: ${missing}. The figures are from earlier statements.`);
      process.exitCode = exitCodes.needsPerson;
    }
    const cycles = await reconcileCredits(warehouse.database, serviceName(config));
    if (asJson) return printJson<'reconciliation'>({ missing_statement: missing ?? null, cycles });
    if (cycles.length > 0) {
      print(reconciliationTable(cycles));
      const conclusions = conclusionsOf(cycles);
      if (conclusions !== '') tell(conclusions);
      return;
    }
    print(
      'The service has not stated its credit usage twice in one credit cycle: there is nothing to compare.',
    );
    tell('Runs ask before and after; a master key, or a key with the scope for usage statistics, is needed.');
  });
}

function isNotOffered(error: unknown): error is ServiceFailure {
  return error instanceof ServiceFailure && (error.type === 'not-found' || error.type === 'forbidden');
}

/** These failures have advice for paused runs, which does not fit here. */
function notOffered(failure: ServiceFailure, service: { baseUrl: string; sandbox: boolean }): Problem {
  const status = `HTTP ${failure.httpStatus ?? ''}`;
  const [what, next] =
    failure.type === 'forbidden'
      ? [
          `the credential may not read usage statistics (${status})`,
          'use a master key, or one with that scope',
        ]
      : service.sandbox
        ? [
            `the sandbox offers no usage statistics (${status})`,
            `while it runs (enrich dev keeps it running), GET ${new URL('/sandbox/bill', service.baseUrl).href} ` +
              'says what it billed',
          ]
        : [
            `this service offers no usage statistics (${status})`,
            'use the usage page of the service; GET /sandbox/bill says what a sandbox billed',
          ];
  return new Problem('usage.not-offered', what, {
    where: failure.where ?? service.baseUrl,
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

function inDecimals({ kinds, cycle }: CreditUsage): OutputOf<'usage'>['credits'] {
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
