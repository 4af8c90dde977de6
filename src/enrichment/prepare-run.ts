import {
  peoplePerCall,
  type IngestOutcome,
  type PlanOutcome,
  type PlanSummary,
  type RunFacts,
  type Stop,
} from '../contract.ts';
import { policyOf } from '../domain/budget-policy.ts';
import { askOf, expectedCredits, minimumCredits, worstCaseCredits } from '../domain/credit-rules.ts';
import { formatCredits, parseCredits, type Credits } from '../domain/decimal.ts';
import { estimateSeconds } from '../domain/eta.ts';
import { Problem } from '../domain/problem.ts';
import { formatRateLimits, lowestLimits, type RateLimit } from '../domain/rate-limit.ts';
import { parseAddress, shownAddress } from '../exports/export-address.ts';
import { findContent, isElsewhere, type ExportAccess } from '../exports/obtain-export.ts';
import { namingExport } from '../exports/open-export.ts';
import { Spool } from '../exports/spool.ts';
import { stageExport } from '../exports/stage.ts';
import { budgetsOf, openRunBudget, readBudgetRests, type BudgetLimits } from '../limits/credit-ledger.ts';
import { bulkMatchScope, forgetOldCalls, freePlacesPerWindow } from '../limits/rate-windows.ts';
import { forgetOldBatches } from '../limits/waiting-batches.ts';
import { killPoint } from '../observe/kill-point.ts';
import { withoutPersonalData } from '../observe/log.ts';
import type { Warehouse } from '../warehouse/database.ts';
import { readCallHistory } from '../warehouse/call-history.ts';
import { askedBy, firstOpenPage } from '../warehouse/pages.ts';
import { pagesOf } from '../warehouse/pilot.ts';
import { planRows } from '../warehouse/plan.ts';
import { readRunFacts } from '../warehouse/run-facts.ts';
import {
  countMalformedRows,
  endRun,
  getRun,
  isContentAwaited,
  savePlan,
  saveWarnings,
  setRunStatus,
  type RunRecord,
} from '../warehouse/runs.ts';

export interface RunDependencies {
  readonly warehouse: Warehouse;
  /** As the runs name it. */
  readonly service: string;
  readonly rateLimits: readonly RateLimit[];
  readonly budgets: BudgetLimits;
  readonly callConcurrency: number;
  readonly exportAccess: ExportAccess;
  /** Told how many more rows are staged. */
  readonly onIngested?: ((rows: number) => void) | undefined;
}

/** What ingest needs of what a run is prepared with. */
export type PlanDependencies = Omit<RunDependencies, 'exportAccess' | 'onIngested'>;
export type IngestDependencies = Pick<RunDependencies, 'warehouse' | 'exportAccess' | 'onIngested'>;

export interface IngestOptions {
  /** The path of what this process has fetched for the run; it is not there any more afterwards. */
  readonly fetched?: string | undefined;
  readonly signal: AbortSignal;
  readonly onProgress: (rowsStaged: number) => void;
}

/**
 * Stages the export of a run; goes on where an earlier try stopped, and reads nothing where it is staged. What was fetched
 * for it is removed: the rows are in the warehouse, or the export is refused.
 *
 * @returns `refused` where the export is at fault: nothing was paid, and the same will not do
 */
export async function ingestRun(
  dependencies: IngestDependencies,
  runId: string,
  options: IngestOptions,
): Promise<IngestOutcome> {
  const outcome = await stageRun(dependencies, runId, options);
  await forgetContent(dependencies, runId);
  return outcome;
}

/** As `ingestRun`, but what was fetched stays where the export is refused: whoever ends the run looks at it again. */
export async function stageRun(
  { warehouse, exportAccess, onIngested = () => {} }: IngestDependencies,
  runId: string,
  options: IngestOptions,
): Promise<IngestOutcome> {
  const run = await getRun(warehouse, runId);
  if (run.ingestedAt !== null) {
    if (options.fetched !== undefined) await new Spool(exportAccess.spoolFolder).remove(options.fetched);
    return ingested(warehouse, run);
  }
  let counted = run.rowsStaged;
  try {
    const path = await findContent(run, exportAccess, options);
    const staged = await namingExport(path, shownAddress(parseAddress(run.filePath, '/')), () =>
      stageExport({
        pool: warehouse.pool,
        runId,
        path,
        mapping: run.options.mapping ?? undefined,
        source: run.options.source ?? undefined,
        onProgress: (rows) => {
          options.onProgress(rows);
          onIngested(rows - counted);
          counted = rows;
          killPoint('chunk-staged');
        },
        signal: options.signal,
      }),
    );
    if (staged.warnings.length > 0) await saveWarnings(warehouse, runId, staged.warnings);
    return { kind: 'ingested', rows: staged.rows, malformed: staged.malformed, source: staged.source };
  } catch (error) {
    if (!(error instanceof Problem) || error.type.startsWith('database.')) throw error;
    // Another process may have staged it meanwhile, and removed what it had fetched.
    const now = await getRun(warehouse, runId);
    return now.ingestedAt === null ? { kind: 'refused', stop: asStop(error) } : ingested(warehouse, now);
  }
}

async function ingested(warehouse: Warehouse, run: RunRecord): Promise<IngestOutcome> {
  const malformed = await countMalformedRows(warehouse, run.runId);
  return { kind: 'ingested', rows: run.rowsStaged, malformed, source: run.source ?? 'generic' };
}

/** Removes what was fetched for a run, and what processes left that were killed, as far as no run waits for it. */
export async function forgetContent(
  { warehouse, exportAccess }: IngestDependencies,
  runId: string,
): Promise<void> {
  const { filePath, fileSha256 } = await getRun(warehouse, runId);
  if (!isElsewhere(parseAddress(filePath, '/'))) return;
  const spool = new Spool(exportAccess.spoolFolder);
  await spool.remove(spool.pathOf(fileSha256, runId));
  for (const { path, sha256 } of await spool.abandoned()) {
    if (!(await isContentAwaited(warehouse, sha256))) await spool.remove(path);
  }
}

/**
 * Plans a staged run: outcomes before spending, people, calls, credits, time. Spends nothing.
 *
 * @returns `refused` where the run is bound to another plan
 */
export async function planRun(dependencies: PlanDependencies, runId: string): Promise<PlanOutcome> {
  const { warehouse, service, rateLimits, budgets } = dependencies;
  const { database } = warehouse;
  const run = await getRun(warehouse, runId);
  if (run.plan && run.planHash) {
    return {
      kind: 'planned',
      plan: run.plan,
      firstOpenPage: (await firstOpenPage(warehouse, runId)) ?? run.plan.pages + 1,
    };
  }
  await setRunStatus(warehouse, runId, 'planning', undefined);
  await openRunBudget(database, runId, limitOf(run.options.maxCredits));
  await forgetOldCalls(database, Math.max(86_400, ...rateLimits.map((limit) => limit.seconds)));
  await forgetOldBatches(database);
  const ask = askOf(run.options);
  const planned = await planRows(warehouse, runId, askedBy(run.options), run.options.pilot);

  const history = await readCallHistory(warehouse, run.options);
  const people = BigInt(planned.people);
  const asksUnknownAgain = run.options.onUnknown === 'retry';
  const worstCase = worstCaseCredits(ask) * people * (asksUnknownAgain ? 2n : 1n);
  const expectedPerPerson = history.creditsPerPerson ?? expectedCredits(ask);
  const expected = inTenths(expectedPerPerson * people);
  const pilot = Math.min(run.options.pilot ?? 0, planned.people);
  const rest = planned.people - pilot;
  const calls = Math.ceil(pilot / peoplePerCall) + Math.ceil(rest / peoplePerCall);
  const windows = await freePlacesPerWindow(database, { service, scope: bulkMatchScope }, rateLimits);
  const [short] = await readBudgetRests(database, await budgetsOf(database, runId, budgets), budgets);
  const plan: PlanSummary = {
    planHash: planned.planHash,
    rows: planned.rows,
    dropped: planned.dropped,
    people: planned.people,
    calls,
    pages: pagesOf(pilot) + pagesOf(rest),
    credits: {
      minimum: formatCredits(minimumCredits(ask) * people),
      expected: formatCredits(expected < worstCase ? expected : worstCase),
      worstCase: formatCredits(worstCase),
    },
    pilot: pilot === 0 ? null : { people: pilot, pages: pagesOf(pilot) },
    asksUnknownAgain,
    shortBudget:
      short && short.available < worstCase
        ? {
            budget: short.budgetId,
            available: formatCredits(short.available),
            onEmpty: policyOf(short.budgetId, run.options.onBudget),
          }
        : null,
    rateLimits: formatRateLimits(lowestLimits(windows)),
    etaSeconds: estimateSeconds(calls, windows, {
      secondsPerCall: history.secondsPerCall ?? 1,
      concurrency: dependencies.callConcurrency,
    }),
  };
  await savePlan(warehouse, runId, plan);
  killPoint('planned');
  if (run.expectedPlanHash !== null && run.expectedPlanHash !== plan.planHash) {
    return { kind: 'refused', stop: planChanged(run.expectedPlanHash, plan.planHash) };
  }
  return { kind: 'planned', plan, firstOpenPage: (await firstOpenPage(warehouse, runId)) ?? plan.pages + 1 };
}

/** Gives every row that is left its outcome and ends the run. */
export async function finishRun(
  { warehouse }: RunDependencies,
  runId: string,
  ending: 'finished' | 'over_budget' | 'cancelled',
  budget: string | undefined,
): Promise<RunFacts> {
  switch (ending) {
    case 'finished':
      await endRun(warehouse, runId, 'finished', undefined);
      break;
    case 'over_budget':
      await endRun(warehouse, runId, 'finished', {
        outcome: 'over_budget',
        reason: `no credits were left in ${budget ?? 'a budget'}`,
      });
      break;
    case 'cancelled':
      await endRun(warehouse, runId, 'cancelled', { outcome: 'cancelled', reason: 'the run was cancelled' });
      break;
  }
  return readRunFacts(warehouse, runId);
}

function limitOf(maxCredits: string | null): Credits | undefined {
  return maxCredits === null ? undefined : parseCredits(maxCredits);
}

/** An estimate: more digits would only look like knowledge. */
function inTenths(credits: Credits): Credits {
  const tenth = 100_000n;
  return ((credits + tenth - 1n) / tenth) * tenth;
}

function planChanged(expected: string, actual: string): Stop {
  return {
    type: 'plan.changed',
    reason: `the plan is no longer ${expected} but ${actual}: the file, the options or what is known of its people changed`,
    next: 'look at the new plan with enrich plan FILE, and run that one',
  };
}

function asStop(problem: Problem): Stop {
  return {
    type: problem.type,
    // It ends up in Temporal: what is quoted of the file may look like a person.
    reason: withoutPersonalData(
      problem.where === undefined ? problem.message : `${problem.message} (${problem.where})`,
    ),
    next: problem.next,
  };
}
