import type { Warehouse } from '../db/database.ts';
import type { RateLimit } from '../domain/rates/rate-limit.ts';
import { inOrderOfOutcomes } from '../domain/runs/outcome.ts';
import { counted, nounFor } from '../domain/text/format.ts';
import type { RunReport } from '../outputs/report-output.ts';
import {
  afterLostAnswers,
  afterOverBudget,
  afterUnknownCalls,
  contestedRecords,
  readRunFacts,
} from '../runs/read-run-facts.ts';
import { getRun, sourceOf, type RunRecord } from '../runs/runs.ts';
import { compareWithTruth } from './compare-truth.ts';
import { readCoverage } from './coverage.ts';
import {
  readContestedRows,
  readCalls,
  readCosts,
  readCredits,
  readLateResults,
  readLostContacts,
  readWaste,
} from './figures.ts';

/**
 * Reads the report of a run with a few statements in one snapshot, so that its parts add up while the run
 * continues.
 *
 * @param runId a run's id, or `latest`
 * @param options.rateLimits the current limits, with which calls are compared
 * @param options.now the time of the report
 * @param options.truth a file of known values to compare with
 * @throws Problem `run.unknown`, `truth.*`
 */
export async function gatherReport(
  warehouse: Warehouse,
  runId: string,
  options: {
    readonly rateLimits: readonly RateLimit[];
    readonly now: Date;
    readonly truth?: string | undefined;
  },
): Promise<RunReport> {
  return warehouse.database
    .transaction()
    .setIsolationLevel('repeatable read')
    .setAccessMode('read only')
    .execute(async (database) => {
      const snapshot = { ...warehouse, database };
      const run = await getRun(snapshot, runId);
      const facts = await readRunFacts(snapshot, run.runId);
      const { approved_at: approvedAt } = await database
        .selectFrom('runs')
        .select('approved_at')
        .where('run_id', '=', run.runId)
        .executeTakeFirstOrThrow();
      const report = {
        report_version: 1 as const,
        generated_at: options.now.toISOString(),
        run: describe(run, facts.service, approvedAt, options.now),
        outcomes: inOrderOfOutcomes(facts.outcomes),
        contested_rows: await readContestedRows(database, run.runId),
        lost_contacts: await readLostContacts(database, run.runId),
        coverage: await readCoverage(database, run),
        credits: await readCredits(database, run),
        waste: await readWaste(database, run.runId),
        costs: await readCosts(database, run),
        calls: await readCalls(database, run.runId, options.rateLimits),
        late_results: await readLateResults(database, run.runId),
        ...(options.truth !== undefined && {
          evaluation: await compareWithTruth(database, options.truth, sourceOf(run)),
        }),
      };
      return { ...report, needs_person: needsPerson(report) };
    });
}

function describe(run: RunRecord, service: string, approvedAt: Date | null, now: Date): RunReport['run'] {
  const until = run.finishedAt ?? now;
  return {
    run_id: run.runId,
    status: run.status,
    reason: run.pauseReason?.reason ?? null,
    next: run.pauseReason?.next ?? null,
    file: run.fileName,
    file_sha256: run.fileSha256,
    rows: run.rowsStaged,
    source: run.source,
    service,
    asked_for: { reveal: run.options.reveal, waterfall: run.options.waterfall },
    priority: run.options.priority,
    plan_hash: run.planHash,
    created_at: run.createdAt.toISOString(),
    approved_at: approvedAt?.toISOString() ?? null,
    finished_at: run.finishedAt?.toISOString() ?? null,
    seconds: Math.max(0, Math.round((until.getTime() - run.createdAt.getTime()) / 1_000)),
    cancelled: run.cancelled,
    undone: run.undone,
  };
}

/** The actions that only the operator can take, most urgent first. */
export function needsPerson(report: Omit<RunReport, 'needs_person'>): RunReport['needs_person'] {
  const { run, outcomes, credits, calls, late_results: late } = report;
  const actions: RunReport['needs_person'][number][] = [];
  if (run.reason !== null)
    actions.push({
      what: `The run ${run.status === 'failed' ? 'has' : 'is'} ${run.status}: ${run.reason}.`,
      next: run.next ?? `enrich resume ${run.run_id}`,
    });
  else if (run.status === 'awaiting_approval')
    actions.push({
      what: 'The plan waits for approval. The run has spent nothing yet.',
      next: `enrich approve ${run.run_id}`,
    });
  const unknown = calls.by_status['unknown'] ?? 0;
  if (unknown > 0)
    actions.push({
      what:
        `The cost of ${counted(unknown, 'call')} is unknown; ` +
        `${counted(credits.held.unknown, 'credit')} ${nounFor(credits.held.unknown, 'is', 'are')} held.`,
      next: afterUnknownCalls(run.run_id),
    });
  else if ((outcomes.unknown ?? 0) > 0)
    actions.push({
      what: `The answers for ${counted(outcomes.unknown ?? 0, 'row')} were lost; the cost of their calls is decided.`,
      next: afterLostAnswers,
    });
  if ((outcomes.over_budget ?? 0) > 0)
    actions.push({
      what: `The budget had no credits left for ${counted(outcomes.over_budget ?? 0, 'row')}.`,
      next: afterOverBudget,
    });
  if (report.contested_rows > 0) {
    const { what, next } = contestedRecords(report.contested_rows);
    actions.push({ what: `${what}.`, next });
  }
  if (late.quarantined > 0)
    actions.push({
      what: `${counted(late.quarantined, 'delivery', 'deliveries')} could not be read.`,
      next: `enrich inbox list ${run.run_id} --status quarantined`,
    });
  if (late.orphaned > 0)
    actions.push({
      what:
        `The results of ${counted(late.orphaned, 'delivery', 'deliveries')} go to no person of a recorded answer; ` +
        'their price counts.',
      next: `enrich inbox list ${run.run_id} --status orphaned`,
    });
  return actions;
}
