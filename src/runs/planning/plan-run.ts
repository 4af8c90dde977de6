import type { Kysely } from 'kysely';
import type { PlanOutcome } from '../../contract/activities.ts';
import { UsageProblem, type Problem } from '../../domain/problem.ts';
import type { PlanSummary } from '../../contract/plan-summary.ts';
import { policyOf } from '../../domain/money/budget-periods.ts';
import { formatCredits } from '../../domain/money/decimal.ts';
import { estimateSeconds } from '../../domain/rates/waiting.ts';
import { formatRateLimits, lowestLimits } from '../../domain/rates/rate-limit.ts';
import type { AdmissionLimits } from '../../ledger/admit.ts';
import { budgetsOf, openRunBudget, readBudgetRests } from '../../ledger/credit-ledger.ts';
import { bulkMatchScope, freeSlotsPerWindow } from '../../ledger/rate-windows.ts';
import { deleteExpiredBatches } from '../../ledger/waiting-batches.ts';
import { killPoint } from '../../telemetry/kill-point.ts';
import type { Warehouse } from '../../db/database.ts';
import type { Tables } from '../../db/schema.ts';
import { askedBy, firstOpenPage } from '../pages.ts';
import { countFillable } from '../reconcile-contacts.ts';
import { pagesOf } from '../quality-gate/pilot.ts';
import { planRows } from './plan-rows.ts';
import { priceOf, type PlannedRows } from './price-of.ts';
import { adoptService, peopleInPausedRuns, readPausedRuns } from '../claims.ts';
import { getRun, savePlan, setRunStatus, sourceOf, type RunRecord } from '../runs.ts';
import { refuseUnnamedSource } from '../begin-run.ts';
import { expectationUnmet, profileExport, refusedChoice } from './export-profile.ts';

export interface PlanDependencies extends AdmissionLimits {
  readonly warehouse: Warehouse;
  readonly callConcurrency: number;
}

/** What planning comes to. Without `problem`, an activity returns it to the workflow. */
type PlannedRun =
  | Extract<PlanOutcome, { kind: 'planned' }>
  | (Extract<PlanOutcome, { kind: 'refused' }> & {
      /** Why the run cannot be planned, for a command. */
      readonly problem: Problem;
    });

/**
 * Plans a staged run: outcomes before spending, people, calls, credits, time. Spends nothing.
 *
 * @returns `refused` if the run is bound to another plan, its contact ids belong to other people, or it chooses rows by
 *   a column that the export does not have
 */
export async function planRun(dependencies: PlanDependencies, runId: string): Promise<PlannedRun> {
  const { warehouse, service } = dependencies;
  // First: who is fresh or being asked for depends on the service.
  await adoptService(warehouse, runId, service);
  const run = await getRun(warehouse, runId);
  if (run.plan && run.planHash) return planned(warehouse, runId, run.plan);
  const refused = refusedChoice(run) ?? (await refuseUnnamedSource(warehouse, run));
  if (refused) return refusedFor(refused);
  // Before the plan clears the cells of people who are suppressed.
  const { withEmail, unmet } = await profileExport(warehouse, run);
  await openRunBudget(warehouse.database, runId, run.options.maxCredits);
  await deleteExpiredBatches(warehouse.database);
  const rows = await planRows(warehouse, runId, askedBy(run.options), run.options.pilot);
  const plan = { ...(await summarise(dependencies, run, rows)), withEmail, unmet };
  // Before the plan: a run plans once, so a person who resumes it has accepted the export.
  if (unmet.length > 0 && (await getRun(warehouse, runId)).isApproved)
    await setRunStatus(warehouse, runId, 'paused', expectationUnmet(runId, unmet));
  await savePlan(warehouse, runId, plan);
  killPoint('planned');
  return planned(warehouse, runId, plan);
}

/** The figures of a plan, except those that show what the export is like. */
async function summarise(
  { warehouse, service, rateLimits, budgets, callConcurrency }: PlanDependencies,
  run: RunRecord,
  rows: PlannedRows,
): Promise<Omit<PlanSummary, 'withEmail' | 'unmet'>> {
  const { database } = warehouse;
  const { runId, options } = run;
  const { byLeftOut, ...counts } = rows;
  const { worstCase, secondsPerCall, ...price } = await priceOf(warehouse, run, rows);
  const everything = byLeftOut.find(({ groups }) => groups.length === 0);
  const pilot = Math.min(options.pilot ?? 0, everything?.people ?? 0);
  const windows = await freeSlotsPerWindow(database, { service, scope: bulkMatchScope }, rateLimits);
  const [short] = await readBudgetRests(database, await budgetsOf(database, runId), budgets);
  return {
    ...counts,
    ...price,
    filled: await countFillable(database, { runId, source: sourceOf(run), service }),
    pilot: pilot === 0 ? null : { people: pilot, pages: pagesOf(pilot) },
    asksUnknownAgain: options.onUnknown === 'retry',
    shortBudget:
      short && short.available < worstCase
        ? {
            budget: short.budgetId,
            available: formatCredits(short.available),
            onEmpty: policyOf(short.budgetId, options.onBudget),
          }
        : null,
    rateLimits: formatRateLimits(lowestLimits(windows)),
    ownRateLimits: formatRateLimits(rateLimits),
    inPausedRuns: counts.dropped.in_flight ? await readInPausedRuns(database, runId) : null,
    // Without experience, a call is assumed to take a second.
    etaSeconds: estimateSeconds(rows.calls, windows, secondsPerCall ?? 1 / callConcurrency),
  };
}

async function readInPausedRuns(
  database: Kysely<Tables>,
  runId: string,
): Promise<PlanSummary['inPausedRuns']> {
  const waiting = peopleInPausedRuns(await readPausedRuns(database, runId));
  return waiting ? { reason: waiting.reason, next: waiting.next } : null;
}

/**
 * Compares the plan with the hash that the run is bound to. Retries compare again, because the worker of the first try
 * may have died before it reported the refusal.
 */
async function planned(warehouse: Warehouse, runId: string, plan: PlanSummary): Promise<PlannedRun> {
  const { expectedPlanHash } = await getRun(warehouse, runId);
  if (expectedPlanHash !== null && expectedPlanHash !== plan.planHash)
    return refusedFor(planChanged(expectedPlanHash, plan.planHash));
  return {
    kind: 'planned',
    plan,
    firstOpenPage: (await firstOpenPage(warehouse, runId)) ?? plan.pages + 1,
  };
}

function planChanged(expected: string, actual: string): Problem {
  return new UsageProblem(
    'plan.changed',
    `the plan has the hash ${actual}, and not ${expected}: the file, the options or what the warehouse knows of the ` +
      'people differ from those of the approved plan',
    { where: '--plan', next: 'read the new plan with enrich plan FILE, and run that plan' },
  );
}

function refusedFor(problem: Problem): PlannedRun {
  const { type, sentence: reason, next } = problem;
  return { kind: 'refused', pauseReason: { type, reason, next }, problem };
}
