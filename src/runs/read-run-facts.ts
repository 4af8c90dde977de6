import { sql } from 'kysely';
import { nameList } from '../db/expressions.ts';
import { statusesOfLookups } from '../domain/money/attempt-status.ts';
import type { StatusReason } from '../contract/pause-reasons.ts';
import type { LateResultsStatus, RunFacts } from '../contract/run-facts.ts';
import { answeredOutcomes, sortByOutcome } from '../domain/runs/outcome.ts';
import { formatCount } from '../domain/text/format.ts';
import type { Warehouse } from '../db/database.ts';
import { readLateResultsStatus } from '../late-results/sync-late-results.ts';
import { describePausedRuns, readPausedRuns } from './claims.ts';
import { getRun, type RunRecord } from './runs.ts';
import { budgetIdOfRun } from '../domain/money/budget-periods.ts';

/** The calls and credits of a run. Credits are decimals as text. */
export type RunSpending = RunFacts['credits'] & {
  readonly calls: number;
  /** Number of calls that were admitted and have no recorded end. */
  readonly inFlight: number;
  readonly people: number;
};

/** Reads the facts of a run for `--json`. It needs only the tables, so it works while Temporal is unreachable. */
export async function readRunFacts(warehouse: Warehouse, runId: string): Promise<RunFacts> {
  const run = await getRun(warehouse, runId);
  const money = await readRunSpending(warehouse, run.runId);
  const status = await readLateResultsStatus(warehouse, run.runId);
  const { awaited, arrived, polled, late, expired, duplicate, quarantined } = status;
  const counted = await sql<{ outcome: string; rows: number }>`
    select outcome, rows from run_outcomes where run_id = ${run.runId}
  `.execute(warehouse.database);
  const outcomes = sortByOutcome(Object.fromEntries(counted.rows.map((row) => [row.outcome, row.rows])));
  const [needed] =
    run.finishedAt === null ? [] : await readNeededDecisions(warehouse, run, outcomes, money.unknown);
  const reason = run.pauseReason ?? needed;
  return {
    run_id: run.runId,
    workflow_id: run.runId,
    status: run.status,
    reason_type: reason?.type ?? null,
    reason: reason?.reason ?? null,
    next: reason?.next ?? null,
    source: run.source,
    file: run.fileName,
    service: run.options.service,
    plan_hash: run.planHash,
    rows: run.rowsStaged,
    outcomes,
    filled: await countFilled(warehouse, run.runId),
    calls: money.calls,
    max_credits: await ownBudget(warehouse, run),
    credits: { settled: money.settled, reserved: money.reserved, unknown: money.unknown },
    expected_credits: run.plan && {
      expected: run.plan.credits.expected,
      low: run.plan.expectation.low,
      high: run.plan.expectation.high,
    },
    late_results: {
      awaited,
      arrived,
      polled,
      late,
      expired,
      duplicate,
      quarantined,
      next_poll_at: status.nextPollAt,
      missing: run.finishedAt === null ? null : describeMissing(status),
    },
    cancelled: run.cancelled,
    undone: run.undone,
  };
}

/**
 * Returns what the operator must do after a run, the most urgent first. Lost answers and people over budget are listed
 * until a later run of the source has answers for these contacts.
 */
export async function readNeededDecisions(
  { database }: Warehouse,
  { runId, source, createdAt }: RunRecord,
  outcomes: RunFacts['outcomes'],
  unknownCredits: string,
): Promise<readonly StatusReason[]> {
  const { unknown = 0, over_budget: overBudget = 0, in_flight: inFlight = 0 } = outcomes;
  const open =
    unknown + overBudget === 0
      ? []
      : await sql<{ outcome: string; rows: number }>`
        select outcome, count(*)::int as rows
        from run_rows r
        where run_id = ${runId} and outcome in ('unknown', 'over_budget') and not exists (
          select from run_rows later
          join runs n on n.run_id = later.run_id
          where later.contact_id = r.contact_id and n.source = ${source} and n.created_at > ${createdAt}
            and later.outcome in (${nameList([...answeredOutcomes, 'fresh'])}))
        group by outcome
      `
          .execute(database)
          .then(({ rows }) => rows);
  const openRows = Object.fromEntries(open.map(({ outcome, rows }) => [outcome, rows]));
  const decisions = neededDecisions({ runId, outcomes: openRows, unknownCredits });
  const paused = inFlight === 0 ? undefined : describePausedRuns(await readPausedRuns(database, runId));
  return paused ? [...decisions, paused] : decisions;
}

/** A sentence about the late results that an ended run lacks; null if none are missing. */
function describeMissing({ awaited, expired }: LateResultsStatus): string | null {
  const missing = [
    ...(expired > 0 ? [`of ${formatCount(expired, 'call')} did not come before the deadline`] : []),
    ...(awaited > 0 ? [`of ${formatCount(awaited, 'call')} are still awaited`] : []),
  ];
  return missing.length === 0 ? null : `the late results ${missing.join(', and ')}`;
}

/** Reads the limit of the run's own budget, which the operator may have changed. Credits are decimal text. */
async function ownBudget({ database }: Warehouse, { runId, options }: RunRecord): Promise<string | null> {
  const { rows } = await sql<{ limit: string | null }>`
    select trim_scale(credits_limit)::text as "limit" from budgets where budget_id = ${budgetIdOfRun(runId)}
  `.execute(database);
  return rows[0] ? rows[0].limit : options.maxCredits;
}

/** Counts the contacts that got the data of a known person without a call of their own. */
async function countFilled({ database }: Warehouse, runId: string): Promise<number> {
  // This form avoids `not exists`, which was slow before the first ANALYZE: PostgreSQL read all matches of the run for
  // each match.
  const { rows } = await sql<{ filled: number }>`
    select count(*)::int as filled
    from (
      select from contact_matches
      where run_id = ${runId}
      group by source, contact_id
      having bool_or(person_key is not null) and not bool_or(asked)
    ) contacts_filled
  `.execute(database);
  return rows[0]!.filled;
}

/** Reads the calls and credits of a run from its attempts. The query is cheap enough to run every second. */
export async function readRunSpending(warehouse: Warehouse, runId: string): Promise<RunSpending> {
  const result = await sql<RunSpending>`
    select count(*) filter (where status <> 'released')::int as calls,
      count(*) filter (where status = 'admitted')::int as "inFlight",
      coalesce(sum(people) filter (where status in (${nameList(statusesOfLookups)})), 0)::int as people,
      trim_scale(coalesce(sum(credits_settled), 0))::text as settled,
      trim_scale(coalesce(sum(credits_reserved)
        filter (where status in ('admitted', 'awaiting')), 0))::text as reserved,
      trim_scale(coalesce(sum(credits_reserved) filter (where status = 'unknown'), 0))::text as unknown
    from attempts where run_id = ${runId}
  `.execute(warehouse.database);
  return result.rows[0]!;
}

/** The problem that rows with the same record id have different people, and the next step. */
export function contestedRecordsProblem(rows: number): Pick<StatusReason, 'reason' | 'next'> {
  const has = rows === 1 ? 'has' : 'have';
  return {
    reason: `${formatCount(rows, 'row')} ${has} a record id that names different people in the file`,
    next: 'correct these record ids in the CRM, and run its new export: this run asks for none of these people',
  };
}

/** The decisions that a run needs from the operator, the most urgent first. They are the reasons for exit code 3. */
export function neededDecisions(run: {
  readonly runId: string;
  readonly outcomes: Readonly<Record<string, number>>;
  readonly unknownCredits: string;
}): readonly StatusReason[] {
  const decisions: StatusReason[] = [];
  const { over_budget: overBudget = 0, unknown = 0 } = run.outcomes;
  if (run.unknownCredits !== '0')
    decisions.push({
      type: 'calls.unknown',
      reason: `the cost of some calls is unknown; ${formatCount(run.unknownCredits, 'credit')} stay held for them`,
      next: `enrich attempts list ${run.runId}, then settle or release each`,
    });
  else if (unknown > 0)
    decisions.push({
      type: 'answers.lost',
      reason: `the answers for ${formatCount(unknown, 'row')} were lost; the cost of their calls is decided`,
      next: 'run the same command again: it pays for their records again, and not for late results that were delivered',
    });
  if (overBudget > 0)
    decisions.push({
      type: 'budget.empty',
      reason: `the budget had no credits left for ${formatCount(overBudget, 'row')}`,
      next:
        'raise the budget (--max-credits N; of the day or month: enrich budget set) and repeat the command: ' +
        'it asks only for people who are not fresh (with --freshness 0s, for all people again)',
    });
  return decisions;
}
