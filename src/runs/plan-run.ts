import { peoplePerCall, type PlanOutcome, type PlanSummary, type PauseReason } from '../contract.ts';
import { withoutPhones } from '../domain/late-results/awaited-results.ts';
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
import { askedBy, firstOpenPage } from './pages.ts';
import { countFillable } from './contacts-to-reconcile.ts';
import { pagesOf } from './pilot.ts';
import { planRows } from './plan.ts';
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
  const ask = askOf(run.options);
  const rows = await planRows(warehouse, runId, askedBy(run.options), run.options.pilot);

  const history = await readCallHistory(warehouse, run.options);
  const apart = BigInt(rows.peopleWithoutPhones);
  const people = BigInt(rows.people);
  const asksUnknownAgain = run.options.onUnknown === 'retry';
  const worstOnce =
    worstCaseCredits(ask) * (people - apart) + worstCaseCredits(askOf(withoutPhones(run.options))) * apart;
  const worstCase = worstOnce * (asksUnknownAgain ? 2n : 1n);
  const expectedPerPerson = history.creditsPerPerson ?? expectedCredits(ask);
  const expected = inTenths(expectedPerPerson * people);
  const pilot = Math.min(run.options.pilot ?? 0, rows.people - rows.peopleWithoutPhones);
  const rest = rows.people - rows.peopleWithoutPhones - pilot;
  const calls = callsOf(pilot) + callsOf(rest) + callsOf(rows.peopleWithoutPhones);
  const windows = await freeSlotsPerWindow(database, { service, scope: bulkMatchScope }, rateLimits);
  const [short] = await readBudgetRests(database, await budgetsOf(database, runId, budgets), budgets);
  const plan: PlanSummary = {
    planHash: rows.planHash,
    rows: rows.rows,
    dropped: rows.dropped,
    filled: await countFillable(database, { runId, source: run.source ?? 'generic', service }),
    people: rows.people,
    calls,
    pages: pagesOf(pilot) + pagesOf(callsOf(rest) * peoplePerCall + rows.peopleWithoutPhones),
    peopleWithoutPhones: rows.peopleWithoutPhones,
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

function callsOf(people: number): number {
  return Math.ceil(people / peoplePerCall);
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
