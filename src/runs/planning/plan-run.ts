import type { PlanOutcome } from '../../contract/activities.ts';
import { peoplePerCall } from '../../contract/batch-sizes.ts';
import { UsageProblem, type Problem } from '../../domain/problem.ts';
import type { PlanSummary } from '../../contract/plan-summary.ts';
import { withoutFieldGroups } from '../../domain/late-results/delivery-kinds.ts';
import { policyOf } from '../../domain/money/budget-policy.ts';
import {
  askOf,
  assumedCredits,
  describeAssumption,
  experiencedCredits,
  missedCredits,
  worstCaseCredits,
  type Ask,
  type ExpectedCredits,
  type PeopleAsked,
} from '../../domain/money/credit-rules.ts';
import { formatCredits, type Credits } from '../../domain/money/decimal.ts';
import { estimateSeconds } from '../../domain/rates/eta.ts';
import { formatRateLimits, lowestLimits } from '../../domain/rates/rate-limit.ts';
import type { AdmissionLimits } from '../../ledger/admit.ts';
import { budgetsOf, openRunBudget, readBudgetRests } from '../../ledger/credit-ledger.ts';
import { bulkMatchScope, freeSlotsPerWindow } from '../../ledger/rate-windows.ts';
import { deleteExpiredBatches } from '../../ledger/waiting-batches.ts';
import { killPoint } from '../../telemetry/kill-point.ts';
import { readCallHistory, type CallHistory } from '../../ledger/call-history.ts';
import type { Warehouse } from '../../db/database.ts';
import { askedBy, firstOpenPage } from '../pages/pages.ts';
import { countFillable } from '../reconciliation/count-fillable.ts';
import { pagesOf } from '../quality-gate/pilot.ts';
import { planRows } from './plan-rows.ts';
import type { PlannedRows } from './planned-rows.ts';
import { adoptService } from '../adopt-service.ts';
import { getRun, savePlan, setRunStatus, sourceOf, type RunRecord } from '../runs.ts';
import { refuseUnnamedSource } from '../unnamed-source.ts';
import { expectationUnmet, profileExport, refusedChoice } from './export-profile.ts';

export interface PlanDependencies extends AdmissionLimits {
  readonly warehouse: Warehouse;
  readonly callConcurrency: number;
}

/** What planning comes to. Without `problem`, an activity returns it to the workflow. */
export type PlannedRun =
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
  const { warehouse, service, rateLimits, budgets } = dependencies;
  const { database } = warehouse;
  // First: who is fresh or being asked for depends on the service.
  await adoptService(warehouse, runId, service);
  const run = await getRun(warehouse, runId);
  if (run.plan && run.planHash) return planned(warehouse, runId, run.plan);
  await setRunStatus(warehouse, runId, 'planning', undefined);
  const refused = refusedChoice(run) ?? (await refuseUnnamedSource(warehouse, run));
  if (refused) return refusedFor(refused);
  // Before the plan clears the cells of people who are suppressed.
  const { withEmail, unmet } = await profileExport(warehouse, run);
  await openRunBudget(database, runId, run.options.maxCredits);
  await deleteExpiredBatches(database);
  const rows = await planRows(warehouse, runId, askedBy(run.options), run.options.pilot);

  const mostPeople = rows.foundBefore * 2 > rows.people ? 'found before' : 'new';
  const history = await readExperience(warehouse, run.options, sourceOf(run), mostPeople);
  const asksUnknownAgain = run.options.onUnknown === 'retry';
  const credits = await creditsOf(warehouse, run, rows.byLeftOut);
  const worstCase = credits.worstCase * (asksUnknownAgain ? 2n : 1n);
  const expected = roundedWithin(worstCase, credits.expected);
  const everything = rows.byLeftOut.find(({ groups }) => groups.length === 0);
  const pilot = Math.min(run.options.pilot ?? 0, everything?.people ?? 0);
  const windows = await freeSlotsPerWindow(database, { service, scope: bulkMatchScope }, rateLimits);
  const [short] = await readBudgetRests(database, await budgetsOf(database, runId, budgets), budgets);
  const plan: PlanSummary = {
    planHash: rows.planHash,
    rows: rows.rows,
    withEmail,
    dropped: rows.dropped,
    filled: await countFillable(database, { runId, source: sourceOf(run), service }),
    people: rows.people,
    foundBefore: rows.foundBefore,
    calls: rows.calls,
    pages: rows.pages,
    peopleWithoutPhones: rows.peopleWithoutPhones,
    credits: {
      // The service bills no miss.
      minimum: '0',
      expected: formatCredits(expected.expected),
      worstCase: formatCredits(worstCase),
    },
    expectation: {
      low: formatCredits(expected.low),
      high: formatCredits(expected.high),
      calls: history?.calls ?? 0,
      source: history?.source ?? null,
      assumption: history ? null : describeAssumption(askOf(run.options), mostPeople),
    },
    unmet,
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
    ownRateLimits: formatRateLimits(rateLimits),
    etaSeconds: estimateSeconds(rows.calls, windows, {
      secondsPerCall: history?.secondsPerCall ?? 1,
      concurrency: dependencies.callConcurrency,
    }),
  };
  await savePlan(warehouse, runId, plan);
  killPoint('planned');
  return planned(warehouse, runId, plan);
}

/**
 * Compares the plan with the hash that the run is bound to. Retries compare again, because the worker of the first try
 * may have died before it reported the refusal.
 */
async function planned(warehouse: Warehouse, runId: string, plan: PlanSummary): Promise<PlannedRun> {
  const { expectedPlanHash, isApproved } = await getRun(warehouse, runId);
  if (expectedPlanHash !== null && expectedPlanHash !== plan.planHash)
    return refusedFor(planChanged(expectedPlanHash, plan.planHash));
  return {
    kind: 'planned',
    plan,
    firstOpenPage: (await firstOpenPage(warehouse, runId)) ?? plan.pages + 1,
    ...(plan.unmet.length > 0 && !isApproved && { unmet: expectationUnmet(runId, plan.unmet) }),
  };
}

/** Worst-case and expected credits of people, by what their calls ask for. */
async function creditsOf(
  warehouse: Warehouse,
  run: RunRecord,
  byLeftOut: PlannedRows['byLeftOut'],
): Promise<{ worstCase: Credits; expected: ExpectedCredits }> {
  let worstCase = 0n;
  let [low, expected, high] = [0n, 0n, 0n];
  for (const { groups, people, foundBefore, missedBefore } of byLeftOut) {
    const asked = withoutFieldGroups(run.options, groups);
    const ask = askOf(asked);
    worstCase += worstCaseCredits(ask) * BigInt(people);
    for (const [kind, count] of [
      ['new', people - foundBefore - missedBefore],
      ['found before', foundBefore],
      ['missed before', missedBefore],
    ] as const) {
      if (count === 0) continue;
      const each =
        kind === 'missed before'
          ? missedCredits(await perFoundPerson(warehouse, asked, sourceOf(run)), count)
          : expectedOf(ask, await readExperience(warehouse, asked, sourceOf(run), kind), kind, count);
      low += each.low;
      expected += each.expected;
      high += each.high;
    }
  }
  return { worstCase, expected: { low, expected, high } };
}

/**
 * What earlier calls for such people cost. People who were found before, and have no such calls, cost what calls for
 * new people cost per found person.
 */
async function readExperience(
  warehouse: Warehouse,
  asked: Parameters<typeof readCallHistory>[1],
  source: string,
  people: PeopleAsked,
): Promise<CallHistory | undefined> {
  const same = await readCallHistory(warehouse, asked, source, people);
  if (same || people === 'new') return same;
  const others = await readCallHistory(warehouse, asked, source, 'new');
  if (!others || others.foundShare === 0) return others;
  return { ...others, perPerson: BigInt(Math.round(Number(others.perPerson) / others.foundShare)) };
}

/** What a found person is expected to cost. */
async function perFoundPerson(
  warehouse: Warehouse,
  asked: Parameters<typeof readCallHistory>[1] & Parameters<typeof askOf>[0],
  source: string,
): Promise<Credits> {
  const history = await readExperience(warehouse, asked, source, 'found before');
  return history?.perPerson ?? assumedCredits(askOf(asked), 'found before').expected;
}

/**
 * Expected credits of people: from earlier calls, otherwise from an assumption. One call has no range. Calls for other
 * sources do not show how much sources differ, so their range includes the assumed range.
 */
function expectedOf(
  ask: Ask,
  history: CallHistory | undefined,
  kind: PeopleAsked,
  people: number,
): ExpectedCredits {
  const { low, expected, high } = assumedCredits(ask, kind);
  const all = BigInt(people);
  const assumed = { low: low * all, expected: (history?.perPerson ?? expected) * all, high: high * all };
  if (history?.deviation === undefined) return assumed;
  const calls = Math.ceil(people / peoplePerCall);
  const experienced = experiencedCredits({ ...history, deviation: history.deviation }, { people, calls });
  if (history.source !== null) return experienced;
  return {
    low: assumed.low < experienced.low ? assumed.low : experienced.low,
    expected: experienced.expected,
    high: assumed.high > experienced.high ? assumed.high : experienced.high,
  };
}

/** Rounds to tenths, keeps low ≤ expected ≤ high, and caps all three at the worst case. */
function roundedWithin(worstCase: Credits, credits: ExpectedCredits): ExpectedCredits {
  const rounded = (level: keyof ExpectedCredits): Credits => {
    const tenths = inTenths(credits[level]);
    return tenths < worstCase ? tenths : worstCase;
  };
  const [low, expected, high] = [rounded('low'), rounded('expected'), rounded('high')];
  // The cost of a single call can lie outside of the assumed range.
  return { low: low < expected ? low : expected, expected, high: high > expected ? high : expected };
}

/** Estimates have one decimal: more digits would suggest precision. */
function inTenths(credits: Credits): Credits {
  const tenth = 100_000n;
  return ((credits + tenth - 1n) / tenth) * tenth;
}

function planChanged(expected: string, actual: string): Problem {
  return new UsageProblem(
    'plan.changed',
    `the plan is ${actual}, and not ${expected}: that is the plan of another file or other options, or the file or ` +
      'what is known of its people has changed since',
    { where: '--plan', next: 'read the new plan with enrich plan FILE, and run that plan' },
  );
}

function refusedFor(problem: Problem): PlannedRun {
  const { type, sentence: reason, next } = problem;
  return { kind: 'refused', pauseReason: { type, reason, next }, problem };
}
