import { sql } from 'kysely';
import type { PlanOutcome } from '../../contract/activities.ts';
import { peoplePerCall } from '../../domain/runs/batching.ts';
import { UsageProblem, Problem } from '../../domain/problem.ts';
import type { PlanSummary } from '../../contract/plan-summary.ts';
import { budgetIdOfRun, exhaustionPolicyOf } from '../../domain/money/budget-periods.ts';
import {
  pricedRequestOf,
  assumedCreditsPerPerson,
  describeAssumedPrice,
  expectedCreditsFromHistory,
  expectedCreditsOfNotFound,
  worstCaseCredits,
  type PricedRequest,
  type ExpectedCredits,
} from '../../domain/money/credit-rules.ts';
import { formatCredits, type Credits } from '../../domain/money/decimal.ts';
import { withoutFieldGroups } from '../../domain/late-results/delivery-kinds.ts';
import { estimateSeconds, formatRateLimits, lowestLimits } from '../../domain/rates/rate-limit.ts';
import { type AdmissionLimits, deleteExpiredBatches } from '../../ledger/admit.ts';
import { readCallHistory, type CallHistory } from '../../ledger/call-history.ts';
import { insertBudget, openBudgetsOfRun, readRemainingBudgets } from '../../ledger/credit-ledger.ts';
import { bulkMatchScope, readRateWindows } from '../../ledger/rate-windows.ts';
import { killPoint } from '../../telemetry/kill-point.ts';
import type { Warehouse } from '../../db/database.ts';
import { lookupRequestOf, firstOpenPage } from '../pages.ts';
import { countFillable } from '../reconcile-contacts.ts';
import { countPages } from '../quality-gates.ts';
import { planRows, type PlannedRows } from './plan-rows.ts';
import { describePausedRuns, readPausedRuns } from '../claims.ts';
import { expectationsUnmetReason, getRun, setRunStatus, sourceOfRun, type RunRecord } from '../runs.ts';
import { refuseUnnamedSource } from '../begin-run.ts';
import type { RefusedRun } from '../ingest-run.ts';
import { identityColumns } from '../../domain/identity/identity.ts';
import {
  parseExpectations,
  unmetExpectations,
  type ExportProfile,
  type ProfiledExport,
} from '../../domain/runs/expectations.ts';
import {
  columnNameForLogs,
  refusePersonalColumns,
  refuseUnknownColumns,
} from '../../ingest/columns/chosen-column.ts';
import { maySpend } from '../../db/run-states.ts';

export interface PlanDependencies extends AdmissionLimits {
  readonly warehouse: Warehouse;
  readonly callConcurrency: number;
}

type PlannedRun = Extract<PlanOutcome, { kind: 'planned' }> | RefusedRun;

/**
 * Plans a staged run: outcomes, people, calls, credits and time. Planning spends nothing.
 *
 * @returns `refused` if only another plan may run, contact ids belong to other people, or a chosen column is missing
 */
export async function planRun(dependencies: PlanDependencies, runId: string): Promise<PlannedRun> {
  const { warehouse, service } = dependencies;
  // The service is set first, because freshness and claims depend on it.
  await adoptService(warehouse, runId, service);
  const run = await getRun(warehouse, runId);
  if (run.plan && run.planHash) return planned(warehouse, runId, run.plan);
  const refused = refusedChoice(run) ?? (await refuseUnnamedSource(warehouse, run));
  if (refused) return refusedFor(refused);
  // The profile is counted first, because planning clears the cells of suppressed people.
  const profile = await keepProfile(warehouse, runId);
  const unmet = await unmetBy(warehouse, run, profile);
  await insertBudget(warehouse.database, budgetIdOfRun(runId), run.options.maxCredits);
  await deleteExpiredBatches(warehouse.database);
  const rows = await planRows(warehouse, runId, lookupRequestOf(run.options), run.options.pilot);
  const summary = await summarise(dependencies, run, rows);
  const hasEmails = Object.values(run.mapping ?? {}).includes('email');
  const withEmail = hasEmails ? (profile.filled['email'] ?? 0) : null;
  const plan = { ...summary, rows_with_email: withEmail, unmet_expectations: unmet };
  // The expectations are checked before the plan. A run plans only once, so an operator who resumes the run has
  // accepted the export.
  if (unmet.length > 0 && (await getRun(warehouse, runId)).isApproved)
    await setRunStatus(warehouse, runId, 'paused', expectationsUnmetReason(runId, unmet));
  await sql`
    update runs set plan = ${JSON.stringify(plan)}::jsonb where run_id = ${runId}
  `.execute(warehouse.database);
  killPoint('planned');
  return planned(warehouse, runId, plan);
}

/** Adds prices, rate limits, the time and the short budget to the counts of a plan. */
async function summarise(
  { warehouse, service, rateLimits, budgets, callConcurrency }: PlanDependencies,
  run: RunRecord,
  rows: PlannedRows,
): Promise<Omit<PlanSummary, 'rows_with_email' | 'unmet_expectations'>> {
  const { database } = warehouse;
  const { runId, options } = run;
  const { byLeftOut, ...counts } = rows;
  const { worstCase, ...price } = await priceOf(warehouse, run, rows);
  const everything = byLeftOut.find(({ groups }) => groups.length === 0);
  const pilot = Math.min(options.pilot ?? 0, everything?.people ?? 0);
  const paused = counts.dropped.in_flight && describePausedRuns(await readPausedRuns(database, runId));
  const windows = await readRateWindows(database, { service, scope: bulkMatchScope }, rateLimits);
  const [short] = await readRemainingBudgets(database, await openBudgetsOfRun(database, runId), budgets);
  return {
    ...counts,
    ...price,
    filled: await countFillable(database, { runId, source: sourceOfRun(run), service }),
    pilot: pilot === 0 ? null : { people: pilot, pages: countPages(pilot) },
    asks_unknown_again: options.onUnknown === 'retry',
    short_budget:
      short && short.available < worstCase
        ? {
            budget: short.budgetId,
            available: formatCredits(short.available),
            on_empty: exhaustionPolicyOf(short.budgetId, options.onBudget),
          }
        : null,
    rate_limits: formatRateLimits(lowestLimits(windows)),
    own_rate_limits: formatRateLimits(rateLimits),
    in_paused_runs: paused ? { reason: paused.reason, next: paused.next } : null,
    // The estimate assumes that a call takes one second.
    eta_seconds: estimateSeconds(rows.calls, windows, 1 / callConcurrency),
  };
}

/**
 * Compares the plan with the hash of the only plan that the run may execute. Retries compare again, because the first
 * worker may have died before it reported the refusal.
 */
async function planned(warehouse: Warehouse, runId: string, plan: PlanSummary): Promise<PlannedRun> {
  const { expectedPlanHash } = await getRun(warehouse, runId);
  if (expectedPlanHash !== null && expectedPlanHash !== plan.plan_hash)
    return refusedFor(
      new UsageProblem(
        'plan.changed',
        `the plan has the hash ${plan.plan_hash}, and not ${expectedPlanHash}: the options (such as --max-credits), ` +
          'the file or what the warehouse knows of the people differ from those of the approved plan',
        {
          where: '--plan',
          next: 'give enrich plan the same file and options as enrich run, and run the plan that it prints',
        },
      ),
    );
  return {
    kind: 'planned',
    plan,
    firstOpenPage: (await firstOpenPage(warehouse, runId)) ?? plan.pages + 1,
  };
}

/** The result for the workflow, with the problem for display. */
function refusedFor(problem: Problem): PlannedRun {
  const { type, sentence: reason, next } = problem;
  return { kind: 'refused', pauseReason: { type, reason, next }, problem };
}

/** Assigns a run to the service of the worker that plans it, if the command named no service. */
export async function adoptService(warehouse: Warehouse, runId: string, service: string): Promise<void> {
  await sql`
    update runs set options = jsonb_set(options, '{service}', to_jsonb(${service}::text))
    where run_id = ${runId} and options ->> 'serviceOf' = 'workers' and plan_hash is null
  `.execute(warehouse.database);
}

/** Prices a plan: an exact worst case, and an estimate from earlier calls or assumptions. */
async function priceOf(warehouse: Warehouse, run: RunRecord, rows: PlannedRows) {
  const history = await readCallHistory(warehouse, run.options, sourceOfRun(run));
  const credits = await creditsOf(warehouse, run, rows.byLeftOut);
  const worstCase = credits.worstCase * (run.options.onUnknown === 'retry' ? 2n : 1n);
  const expected = roundedWithin(worstCase, credits.expected);
  return {
    worstCase,
    credits: {
      // The minimum is 0, because people who are not found cost nothing.
      minimum: '0',
      expected: formatCredits(expected.expected),
      worst_case: formatCredits(worstCase),
    },
    expectation: {
      low: formatCredits(expected.low),
      high: formatCredits(expected.high),
      calls: history?.calls ?? 0,
      assumption: history ? null : describeAssumedPrice(pricedRequestOf(run.options)),
    },
  };
}

/** Adds up the credits of all people, priced by the fields that their calls leave out. */
async function creditsOf(
  warehouse: Warehouse,
  run: RunRecord,
  byLeftOut: PlannedRows['byLeftOut'],
): Promise<{ worstCase: Credits; expected: ExpectedCredits }> {
  let worstCase = 0n;
  let [low, expected, high] = [0n, 0n, 0n];
  for (const { groups, people, missedBefore } of byLeftOut) {
    const asked = withoutFieldGroups(run.options, groups);
    const ask = pricedRequestOf(asked);
    const history = await readCallHistory(warehouse, asked, sourceOfRun(run));
    worstCase += worstCaseCredits(ask) * BigInt(people);
    const missed = expectedCreditsOfNotFound(expectedOf(ask, history, 1).expected, missedBefore);
    const others = expectedOf(ask, history, people - missedBefore);
    low += missed.low + others.low;
    expected += missed.expected + others.expected;
    high += missed.high + others.high;
  }
  return { worstCase, expected: { low, expected, high } };
}

/** Expected credits for these people. With at most one earlier call, the range is an assumption. */
function expectedOf(ask: PricedRequest, history: CallHistory | undefined, people: number): ExpectedCredits {
  const { low, expected, high } = assumedCreditsPerPerson(ask);
  const all = BigInt(people);
  const assumed = { low: low * all, expected: (history?.perPerson ?? expected) * all, high: high * all };
  if (history?.deviation === undefined) return assumed;
  const calls = Math.ceil(people / peoplePerCall);
  return expectedCreditsFromHistory({ ...history, deviation: history.deviation }, { people, calls });
}

/** A tenth of a credit, in millionths. */
const tenth = 100_000n;

/** Rounds an estimate to tenths, as it is not precise, with low ≤ expected ≤ high ≤ the worst case. */
function roundedWithin(worstCase: Credits, credits: ExpectedCredits): ExpectedCredits {
  const rounded = (level: keyof ExpectedCredits): Credits => {
    const tenths = ((credits[level] + tenth - 1n) / tenth) * tenth;
    return tenths < worstCase ? tenths : worstCase;
  };
  const [low, expected, high] = [rounded('low'), rounded('expected'), rounded('high')];
  // The cost of a single earlier call can be outside of the assumed range.
  return { low: low < expected ? low : expected, expected, high: high > expected ? high : expected };
}

/** Number of the latest runs that an export is compared with. */
const runsCompared = 10;

/** Returns sentences about how the export differs from the expectations of the run. */
async function unmetBy(warehouse: Warehouse, run: RunRecord, profile: ExportProfile): Promise<string[]> {
  if (run.options.expectations === null) return [];
  const earlier = await readEarlierExports(warehouse, run);
  const present = { profile, mapping: run.mapping ?? {} };
  return unmetExpectations(parseExpectations(run.options.expectations), present, earlier, columnNameForLogs);
}

/** SQL members of a JSON object: each column of identifying cells, with its number of filled rows. */
const countsOfCells = sql.raw(
  identityColumns
    .filter((column) => column !== 'other_emails')
    .map((column) => `'${column}', nullif(count(${column}), 0)`)
    .join(', '),
);

/** Counts the rows of a staged export, and stores the counts with the run for comparison with later exports. */
async function keepProfile({ database }: Warehouse, runId: string): Promise<ExportProfile> {
  const { rows } = await sql<{ profile: ExportProfile }>`
    update runs set export_profile = (
      select jsonb_build_object(
        'rows', count(*),
        'malformed', count(*) filter (where outcome = 'malformed'),
        'filled', jsonb_strip_nulls(jsonb_build_object(${countsOfCells})))
      from run_rows where run_id = ${runId})
    where run_id = ${runId}
    returning export_profile as profile
  `.execute(database);
  return rows[0]!.profile;
}

/** Reads ended runs of the source, the newest first. Scheduled runs are compared with runs of the same schedule. */
async function readEarlierExports({ database }: Warehouse, run: RunRecord): Promise<ProfiledExport[]> {
  const { rows } = await sql<ProfiledExport>`
    select run_id as "runId", export_profile as profile, mapping
    from runs
    where status = 'finished' and undone_at is null and export_profile is not null and mapping is not null
      and ${maySpend}
      and source = ${run.source}
      and options ->> 'schedule' is not distinct from ${run.options.schedule}
      and run_id <> ${run.runId}
    order by created_at desc
    limit ${runsCompared}
  `.execute(database);
  return rows;
}

/** Returns why `--only` or `--order-by` cannot be used: an unknown column, or values that identify people. */
function refusedChoice({ header, mapping, options }: RunRecord): Problem | undefined {
  try {
    const columns = { header: header ?? [], mapping: mapping ?? {} };
    refuseUnknownColumns(columns, options, false);
    refusePersonalColumns(options.only, columns);
    return undefined;
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    return error;
  }
}
