import type { PlanOutcome, PlanSummary, PauseReason } from '../contract.ts';
import { withoutFieldGroups } from '../domain/late-results/awaited-results.ts';
import { policyOf } from '../domain/money/budget-policy.ts';
import { askOf, expectedCredits, minimumCredits, worstCaseCredits } from '../domain/money/credit-rules.ts';
import { formatCredits, parseCredits, type Credits } from '../domain/money/decimal.ts';
import { estimateSeconds } from '../domain/rates/eta.ts';
import { formatRateLimits, lowestLimits, type RateLimit } from '../domain/rates/rate-limit.ts';
import { budgetsOf, openRunBudget, readBudgetRests, type BudgetLimits } from '../ledger/credit-ledger.ts';
import { bulkMatchScope, forgetOldCalls, freeSlotsPerWindow } from '../ledger/rate-windows.ts';
import { forgetOldBatches } from '../ledger/waiting-batches.ts';
import { killPoint } from '../telemetry/kill-point.ts';
import { readCallHistory } from '../ledger/call-history.ts';
import type { Warehouse } from '../db/database.ts';
import type { RunOptions } from '../db/schema.ts';
import { askedBy, firstOpenPage } from './pages.ts';
import { countFillable } from './contacts-to-reconcile.ts';
import { pagesOf } from './pilot.ts';
import { planRows, type PlannedRows } from './plan.ts';
import { getRun, savePlan, setRunStatus } from './runs.ts';
import { refuseUnnamedSource } from './unnamed-source.ts';

export interface PlanDependencies {
  readonly warehouse: Warehouse;
  /** As the runs name it. */
  readonly service: string;
  readonly rateLimits: readonly RateLimit[];
  readonly budgets: BudgetLimits;
  readonly callConcurrency: number;
}

/**
 * Plans a staged run: outcomes before spending, people, calls, credits, time. Spends nothing.
 *
 * @returns `refused` where the run is bound to another plan, or its contact ids are those of other people
 */
export async function planRun(dependencies: PlanDependencies, runId: string): Promise<PlanOutcome> {
  const { warehouse, service, rateLimits, budgets } = dependencies;
  const { database } = warehouse;
  const run = await getRun(warehouse, runId);
  if (run.plan && run.planHash) return planned(warehouse, runId, run.plan);
  await setRunStatus(warehouse, runId, 'planning', undefined);
  const unnamed = await refuseUnnamedSource(warehouse, run);
  if (unnamed) return { kind: 'refused', pauseReason: unnamed };
  await openRunBudget(database, runId, limitOf(run.options.maxCredits));
  await forgetOldCalls(database, Math.max(86_400, ...rateLimits.map((limit) => limit.seconds)));
  await forgetOldBatches(database);
  const rows = await planRows(warehouse, runId, askedBy(run.options), run.options.pilot);

  const history = await readCallHistory(warehouse, run.options);
  const asksUnknownAgain = run.options.onUnknown === 'retry';
  const credits = await creditsOf(warehouse, run.options, rows.byLeftOut);
  const worstCase = credits.worstCase * (asksUnknownAgain ? 2n : 1n);
  const expected = inTenths(credits.expected);
  const everything = rows.byLeftOut.find(({ groups }) => groups.length === 0);
  const pilot = Math.min(run.options.pilot ?? 0, everything?.people ?? 0);
  const windows = await freeSlotsPerWindow(database, { service, scope: bulkMatchScope }, rateLimits);
  const [short] = await readBudgetRests(database, await budgetsOf(database, runId, budgets), budgets);
  const plan: PlanSummary = {
    planHash: rows.planHash,
    rows: rows.rows,
    dropped: rows.dropped,
    filled: await countFillable(database, { runId, source: run.source ?? 'generic', service }),
    people: rows.people,
    calls: rows.calls,
    pages: rows.pages,
    peopleWithoutPhones: rows.peopleWithoutPhones,
    credits: {
      minimum: formatCredits(minimumCredits(askOf(run.options)) * BigInt(rows.people)),
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
    etaSeconds: estimateSeconds(rows.calls, windows, {
      secondsPerCall: history.secondsPerCall ?? 1,
      concurrency: dependencies.callConcurrency,
    }),
  };
  await savePlan(warehouse, runId, plan);
  killPoint('planned');
  return planned(warehouse, runId, plan);
}

/**
 * Looks each time whether the run is bound to another plan: of an earlier try, whose worker died, no person may have
 * heard that.
 */
async function planned(warehouse: Warehouse, runId: string, plan: PlanSummary): Promise<PlanOutcome> {
  const { expectedPlanHash } = await getRun(warehouse, runId);
  if (expectedPlanHash !== null && expectedPlanHash !== plan.planHash)
    return { kind: 'refused', pauseReason: planChanged(expectedPlanHash, plan.planHash) };
  return { kind: 'planned', plan, firstOpenPage: (await firstOpenPage(warehouse, runId)) ?? plan.pages + 1 };
}

/** What people can cost at most, and are expected to cost, by what their calls ask for. */
async function creditsOf(
  warehouse: Warehouse,
  options: RunOptions,
  byLeftOut: PlannedRows['byLeftOut'],
): Promise<{ worstCase: Credits; expected: Credits }> {
  let [worstCase, expected] = [0n, 0n];
  for (const { groups, people } of byLeftOut) {
    const asked = withoutFieldGroups(options, groups);
    const { creditsPerPerson } = await readCallHistory(warehouse, asked);
    worstCase += worstCaseCredits(askOf(asked)) * BigInt(people);
    expected += (creditsPerPerson ?? expectedCredits(askOf(asked))) * BigInt(people);
  }
  return { worstCase, expected };
}

function limitOf(maxCredits: string | null): Credits | undefined {
  return maxCredits === null ? undefined : parseCredits(maxCredits);
}

/** An estimate: more digits would only look like knowledge. */
function inTenths(credits: Credits): Credits {
  const tenth = 100_000n;
  return ((credits + tenth - 1n) / tenth) * tenth;
}

function planChanged(expected: string, actual: string): PauseReason {
  return {
    type: 'plan.changed',
    reason: `the plan is no longer ${expected} but ${actual}: the file, the options or what is known of its people changed`,
    next: 'look at the new plan with enrich plan FILE, and run that one',
  };
}
