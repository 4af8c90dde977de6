import { sql, type Selectable, type Transaction } from 'kysely';
import type { PauseReason, StatusReason } from '../contract/pause-reasons.ts';
import { isFinal, type RunStatus, eventForStatus } from '../contract/run-transitions.ts';
import { UsageProblem } from '../domain/problem.ts';
import type { Warehouse } from '../db/database.ts';
import type { Tables } from '../db/schema.ts';
import { isEventAllowed, isUnfinished, maySpend } from '../db/run-states.ts';
import type { RunInput } from '../contract/run-input.ts';
import { lateKindsRequestedBy } from '../domain/late-results/delivery-kinds.ts';
import { withoutPersonalData } from '../domain/text/without-personal-data.ts';

export type RunRecord = Readonly<ReturnType<typeof recordOf>>;

/** Pattern of the last six characters of a run id. */
const lastPart = /^[0-9a-f]{6}$/;

/**
 * Reads a run by its id, the last six characters of its id, or `latest`: the newest run that did more than plan.
 *
 * @throws Problem `run.unknown`; `run.ambiguous` if two ids end with these characters
 */
export async function getRun(warehouse: Warehouse, runId: string): Promise<RunRecord> {
  const isLatest = runId === 'latest';
  const byName = lastPart.test(runId) ? sql<string>`right(run_id, 6)` : sql<string>`run_id`;
  const [row, other] = await warehouse.database
    .selectFrom('runs')
    .selectAll()
    .where(isLatest ? maySpend : sql<boolean>`${byName} = ${runId}`)
    .orderBy('created_at', 'desc')
    .limit(isLatest ? 1 : 2)
    .execute();
  if (!row)
    throw new UsageProblem('run.unknown', isLatest ? 'there is no run yet' : `there is no run "${runId}"`, {
      where: 'the runs that enrich status lists',
      next:
        'enrich status lists the runs: write an id, its last six characters, or latest; ' +
        'enrich run FILE begins a run',
    });
  if (other)
    throw new UsageProblem('run.ambiguous', `"${runId}" names two runs or more`, {
      where: 'the runs that enrich status lists',
      next: `use a whole id, such as ${row.run_id}`,
    });
  return recordOf(row);
}

function recordOf(row: Selectable<Tables['runs']>) {
  return {
    runId: row.run_id,
    status: row.status,
    /** The source of the run's contacts; null until the export is read. */
    source: row.source,
    filePath: row.file_path,
    fileName: row.file_name,
    fileSha256: row.file_sha256,
    options: row.options,
    header: row.header,
    mapping: row.mapping,
    warnings: row.warnings,
    rowsStaged: row.rows_staged,
    /** Row number up to which retention has removed the personal data. */
    rowsPruned: row.rows_pruned,
    /** Number of rows by outcome; stored only if retention has removed rows. */
    outcomes: row.outcomes,
    ingestedAt: row.ingested_at,
    plan: row.plan,
    planHash: row.plan_hash,
    expectedPlanHash: row.expected_plan_hash,
    pauseReason: row.pause_reason,
    /** When the operator approved the plan, or a run with `--yes` or of a schedule began; null: not approved. */
    approvedAt: row.approved_at,
    isApproved: row.approved_at !== null,
    createdAt: row.created_at,
    /** The scheduled time of the run. For a run without a schedule, the time when it began. */
    asOf: row.as_of,
    finishedAt: row.finished_at,
    /** True if the run was undone and its answers were removed. */
    isDiscarded: row.answers_discarded_at !== null,
    // A run that was about to end when the operator cancelled it can still finish normally.
    cancelled:
      (row.status === 'cancelling' || row.status === 'cancelled') && row.cancelled_at
        ? { at: row.cancelled_at.toISOString(), reason: row.cancelled_reason ?? '' }
        : null,
    undone: row.undone_at && {
      at: row.undone_at.toISOString(),
      by: row.undone_by ?? '',
      reason: row.undone_reason,
    },
  };
}

/** The source of a run's contacts. Before the export is read, the run has no contacts. */
export function sourceOfRun({ source }: Pick<RunRecord, 'source'>): string {
  return source ?? 'generic';
}

/** Lists runs that make calls without action by the operator: running runs, and runs that wait for a budget. */
export async function listCallingRuns(warehouse: Warehouse): Promise<RunRecord[]> {
  const calling = warehouse.database.selectFrom('runs').selectAll().where(isEventAllowed('pause_by_call'));
  return (await calling.where(maySpend).orderBy('created_at').execute()).map(recordOf);
}

/** The newest earlier run of the same source that has made a call. */
export async function findEarlierRunWithCalls(
  { database }: Warehouse,
  runId: string,
): Promise<string | undefined> {
  const { rows } = await sql<{ run_id: string }>`
    select earlier.run_id
    from runs r
    join runs earlier on earlier.source = r.source and earlier.created_at < r.created_at
    where r.run_id = ${runId}
      and exists (select from attempts a where a.run_id = earlier.run_id and a.status <> 'released')
    order by earlier.created_at desc
    limit 1
  `.execute(database);
  return rows[0]?.run_id;
}

/** Lists the newest runs that may spend credits, so no plans. */
export async function listRuns(warehouse: Warehouse, limit: number): Promise<RunRecord[]> {
  const rows = await warehouse.database
    .selectFrom('runs')
    .selectAll()
    .where(maySpend)
    .orderBy('created_at', 'desc')
    .limit(limit)
    .execute();
  return rows.map(recordOf);
}

/**
 * Sets a status that `runTransitions` allows. Without approval, `running` becomes `awaiting_approval`.
 *
 * @param decision.updateId the workflow's update. Temporal repeats updates after a reset; each takes effect once
 */
export async function setRunStatus(
  warehouse: Warehouse,
  runId: string,
  status: RunStatus,
  pauseReason: StatusReason | undefined,
  {
    byOperator = false,
    updateId,
  }: { readonly byOperator?: boolean | undefined; readonly updateId?: string | undefined } = {},
): Promise<void> {
  const allowed = isEventAllowed(eventForStatus(status, pauseReason, byOperator));
  const reason = pauseReason === undefined ? null : JSON.stringify(pauseReason);
  await sql`
    update runs set status = case when not ${allowed} then status
        when ${status} = 'running' and approved_at is null then 'awaiting_approval' else ${status} end,
      pause_reason = case when ${allowed} then ${reason}::jsonb else pause_reason end,
      -- The first cancellation stays, because a repeated command waits for it.
      cancelled_reason = case when ${status} = 'cancelling' and cancelled_at is null then ${pauseReason?.reason ?? null}
        else cancelled_reason end,
      cancelled_at = case when ${status} = 'cancelling' then coalesce(cancelled_at, clock_timestamp())
        else cancelled_at end,
      applied_updates = array_remove(applied_updates || ${updateId ?? null}::text, null),
      finished_at = case when ${isFinal(status)} then clock_timestamp() end
    where run_id = ${runId} and ${isUnfinished}
      and not coalesce(${updateId ?? null}::text = any(applied_updates), false)
  `.execute(warehouse.database);
}

/** Reads the services of all runs that may spend credits. */
export async function servicesOfRuns({ database }: Warehouse): Promise<string[]> {
  const { rows } = await sql<{ service: string }>`
    select distinct options ->> 'service' as service from runs where ${maySpend} order by service
  `.execute(database);
  return rows.map(({ service }) => service);
}

/** Ids of the runs that a command must wake after it has raised this budget. */
export async function runsWaitingForBudget(warehouse: Warehouse, budgetId: string): Promise<string[]> {
  const waiting = await sql<{ run_id: string }>`
    select run_id from runs
    where status = 'paused' and pause_reason -> 'budgets' @> to_jsonb(${budgetId}::text) order by created_at
  `.execute(warehouse.database);
  return waiting.rows.map((row) => row.run_id);
}

/** Adds a warning about the export, which the plan shows. */
export async function addWarning(
  transaction: Transaction<Tables>,
  runId: string,
  warning: string,
): Promise<void> {
  await sql`
    update runs set warnings = array_append(warnings, ${warning}) where run_id = ${runId}
  `.execute(transaction);
}

/**
 * Number of batches in flight for each call in flight. The additional batches wait for the digest, which processes many
 * answers together, or for another worker. With three batches, a call needed 10 % more processor time.
 */
const batchesPerCall = 6;

/** The input of a run's workflow. It contains no personal data, because Temporal shows it. */
export function runInputOf(
  run: RunRecord,
  settings: {
    readonly searchable: boolean;
    readonly callConcurrency: number;
    readonly pollAfterSeconds: number;
    readonly checksService: boolean;
  },
): RunInput {
  return {
    runId: run.runId,
    file: fileNameWithoutPersonalData(run),
    maxCredits: run.options.maxCredits,
    batchConcurrency: batchesPerCall * settings.callConcurrency,
    priority: run.options.priority,
    searchable: settings.searchable,
    checksService: settings.checksService,
    ...(lateKindsRequestedBy(run.options).length > 0 && {
      lateResults: { pollAfterSeconds: settings.pollAfterSeconds },
    }),
  };
}

/** The name of a run's file as Temporal stores it, without personal data: some files are named after people. */
export function fileNameWithoutPersonalData(run: Pick<RunRecord, 'fileName'>): string {
  return withoutPersonalData(run.fileName);
}

/** Approves the plan of a run. Its next status is `running` instead of `awaiting_approval`. */
export async function approveRun({ database }: Warehouse, runId: string): Promise<void> {
  await sql`
    update runs set approved_at = coalesce(approved_at, clock_timestamp())
    where run_id = ${runId} and ${isUnfinished}
  `.execute(database);
}

/** Approves a run with `--yes`. An unexpected export still pauses it. @returns true if the run is paused */
export async function approveAutomatically(
  warehouse: Warehouse,
  { runId, isApproved, plan }: RunRecord,
): Promise<boolean> {
  const unmet = (!isApproved && plan?.unmet_expectations) || [];
  if (unmet.length > 0) await setRunStatus(warehouse, runId, 'paused', expectationsUnmetReason(runId, unmet));
  await approveRun(warehouse, runId);
  return unmet.length > 0;
}

/** Withdraws the approval by `--yes` of a run that paused before its plan, so that the next command shows the plan. */
export async function withdrawUnreadApproval({ database }: Warehouse, runId: string): Promise<void> {
  await sql`
    update runs set approved_at = null where run_id = ${runId} and status = 'paused' and plan is null
  `.execute(database);
}

/** The reason for a pause before the first call: the export does not meet the run's expectations. */
export function expectationsUnmetReason(runId: string, unmet: readonly string[]): PauseReason {
  return {
    type: 'expectation.unmet',
    reason: `the export is not as expected, and nothing was paid: ${unmet.join('; ')}`,
    next: `enrich resume ${runId} accepts the export; enrich cancel ${runId} ends the run`,
  };
}
