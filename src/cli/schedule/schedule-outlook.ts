import { runDefaults } from '../../config/settings.ts';
import { parseCredits } from '../../domain/money/decimal.ts';
import { countedPeople } from '../../domain/text/counted.ts';
import { inOrderOfOutcomes } from '../../domain/runs/outcome.ts';
import { Problem } from '../../domain/problem.ts';
import { optionsOf, withoutEnriched } from '../../runs/begin-scheduled-runs.ts';
import {
  addressName,
  addressText,
  shownAddress,
  type ExportAddress,
} from '../../ingest/sources/export-address.ts';
import { downloadLimits } from '../../ingest/sources/download.ts';
import { findExports, type FoundExport } from '../../ingest/sources/find-export.ts';
import { isElsewhere, obtainExport, type ExportAccess } from '../../ingest/sources/obtain-export.ts';
import { StagingDirectory } from '../../ingest/sources/staging-directory.ts';
import { wasRunBefore } from '../../runs/begin-run.ts';
import { formatElapsed } from '../../domain/text/duration.ts';
import { readPeriodBudgets } from '../../ledger/credit-ledger.ts';
import { planExport } from '../run/plan-export.ts';
import type { SpecifiedRun } from '../run/run-spec.ts';
import type { ScheduleDefinition } from './schedule-definition.ts';
import type { Session } from '../session/session.ts';

/** Failed requests until the command stops trying, because a person is waiting. A scheduled run tries longer. */
const failuresWhileSomebodyWaits = 2;

/**
 * Describes the export that a schedule would find now, and whether its calls would end before the next time, so that a
 * person sees a wrong path or an overrun today. Plans the newest new export and makes no call. An export that this
 * machine cannot reach is no error, because a worker may reach it.
 *
 * @param times when the schedule begins runs next
 * @returns lines for a person
 */
export async function outlookOf(
  session: Pick<Session, 'config' | 'warehouse'>,
  definition: ScheduleDefinition,
  times: readonly Date[],
): Promise<string[]> {
  const { name, timezone, work } = definition;
  const access = {
    ...session.config.exportAccess,
    pool: session.warehouse.pool,
    limits: { ...downloadLimits, failures: failuresWhileSomebodyWaits },
  };
  try {
    const found = await findExports(work.export, new Date(), timezone, access);
    if (found.length === 0) return [`${name} would find now: no file`];
    const latest = await latestOf(session, definition, found, access);
    if (!latest) return [`${name} would find now: no new file`];
    const { address, spec, others } = latest;
    const more = others > 0 ? ` and ${others} more` : '';
    const { plan } = await planExport(session, spec);
    const notAsked = Object.entries(inOrderOfOutcomes(plan.dropped)).map(
      ([outcome, rows]) => `${outcome} ${rows}`,
    );
    const warnings = [
      overrunWarning(plan.etaSeconds, times),
      budgetWarning(plan.credits.expected, await budgetsOf(session, spec.options)),
      ...plan.unmet.map((unmet) => `would pause its run: ${unmet}`),
    ];
    return [
      `${name} would find now: ${shownAddress(address)}${more}, with ${countedPeople(plan.people)} to ask for` +
        (notAsked.length > 0 ? ` (rows not asked for: ${notAsked.join(', ')})` : ''),
      ...warnings.flatMap((warning) =>
        warning === undefined ? [] : [`note: ${name}: the plan of ${addressName(address)} ${warning}`],
      ),
    ];
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    return [
      `note: ${name}: ${error.message} (${error.where ?? ''}), on this machine; a worker searches again at its time`,
    ];
  }
}

interface LatestExport {
  readonly address: ExportAddress;
  readonly spec: SpecifiedRun;
  /** Number of further new exports. */
  readonly others: number;
}

/** The newest export that a run would begin with; undefined if none is new. */
async function latestOf(
  session: Pick<Session, 'config' | 'warehouse'>,
  definition: ScheduleDefinition,
  found: readonly FoundExport[],
  access: ExportAccess,
): Promise<LatestExport | undefined> {
  const { warehouse, config } = session;
  const onlyNew = definition.work.export.kind === 'every-new';
  const options = optionsOf(
    { defaults: runDefaults(config) },
    { ...definition.work, schedule: definition.name },
  );
  const candidates = onlyNew
    ? await withoutEnriched({ warehouse, exportAccess: access }, found, options)
    : [...found];
  for (let latest = candidates.pop(); latest !== undefined; latest = candidates.pop()) {
    const { address } = latest;
    const { path, sha256 } = await obtainExport(address, access);
    const fetched = isElsewhere(address) ? path : undefined;
    const spec = {
      filePath: addressText(address),
      fileName: addressName(address),
      fileSha256: sha256,
      options,
      expectedPlanHash: null,
      fetched,
    };
    // A remote export may turn out to be an old one only after it is fetched.
    if (!onlyNew || !(await wasRunBefore(warehouse, spec)))
      return { address, spec, others: candidates.length };
    if (fetched !== undefined) await new StagingDirectory(access.stagingDirectory).remove(fetched);
  }
  return undefined;
}

/** The limits of every run of a schedule: of the run, and of the periods. */
async function budgetsOf(
  { config, warehouse }: Pick<Session, 'config' | 'warehouse'>,
  { maxCredits }: SpecifiedRun['options'],
): Promise<BudgetOfRun[]> {
  const periods = await readPeriodBudgets(warehouse.database, config.budgets.perPeriod);
  return [
    { name: 'run', limit: maxCredits },
    ...periods.map(({ period, limit }) => ({ name: period, limit })),
  ];
}

interface BudgetOfRun {
  readonly name: string;
  /** Decimal as text; null: no limit. */
  readonly limit: string | null;
}

/** Warns that a plan is expected to cost more than its smallest budget allows, even if the budget is unused. */
function budgetWarning(expected: string, budgets: readonly BudgetOfRun[]): string | undefined {
  const cost = parseCredits(expected) ?? 0n;
  const [smallest] = budgets
    .flatMap(({ name, limit }) =>
      limit === null ? [] : [{ name, limit, credits: parseCredits(limit) ?? 0n }],
    )
    .sort((one, other) => (one.credits < other.credits ? -1 : 1));
  if (!smallest || smallest.credits >= cost) return undefined;
  return (
    `is expected to cost ${expected} credits, and the budget of the ${smallest.name} has ${smallest.limit}: ` +
    'people beyond it will be over budget'
  );
}

/**
 * Warns that a plan takes longer than the shortest gap between two times: the next time will be skipped or wait.
 *
 * @param seconds duration of the plan's calls at the rate limit
 * @param times when the schedule begins runs next
 */
export function overrunWarning(seconds: number, times: readonly Date[]): string | undefined {
  const gaps = times.slice(1).map((time, index) => (time.getTime() - times[index]!.getTime()) / 1_000);
  const shortest = Math.min(...gaps);
  if (seconds <= shortest) return undefined;
  return (
    `takes about ${formatElapsed(seconds)} at the rate limit, but the next time comes after ` +
    `${formatElapsed(shortest)}: it overruns`
  );
}
