import type { StatusReason } from '../contract/pause-reasons.ts';
import type { Warehouse } from '../db/database.ts';
import type { RateLimit } from '../domain/rates/rate-limit.ts';
import { sortByOutcome } from '../domain/runs/outcome.ts';
import { formatCount } from '../domain/text/format.ts';
import type { RunReport } from '../outputs/report-output.ts';
import { contestedRecordsProblem, readNeededDecisions, readRunFacts } from '../runs/read-run-facts.ts';
import { getRun, sourceOfRun, type RunRecord } from '../runs/runs.ts';
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

/** Reads the report of a run in one snapshot, so that its numbers agree while the run continues. */
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
      const report = {
        report_version: 1 as const,
        generated_at: options.now.toISOString(),
        run: describe(run, options.now),
        outcomes: sortByOutcome(facts.outcomes),
        contested_rows: await readContestedRows(database, run.runId),
        lost_contacts: await readLostContacts(database, run.runId),
        coverage: await readCoverage(database, run),
        credits: await readCredits(database, run),
        waste: await readWaste(database, run.runId),
        costs: await readCosts(database, run),
        calls: await readCalls(database, run.runId, options.rateLimits),
        late_results: await readLateResults(database, run.runId),
        ...(options.truth !== undefined && {
          evaluation: await compareWithTruth(database, options.truth, sourceOfRun(run)),
        }),
      };
      const decisions = await readNeededDecisions(snapshot, run, facts.outcomes, facts.credits.unknown);
      return { ...report, needs_person: needsOperator(report, decisions) };
    });
}

/** The section `run` of the report. A run that has not ended is measured up to `now`. */
function describe(run: RunRecord, now: Date): RunReport['run'] {
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
    service: run.options.service,
    asked_for: { reveal: run.options.reveal, waterfall: run.options.waterfall },
    priority: run.options.priority,
    plan_hash: run.planHash,
    created_at: run.createdAt.toISOString(),
    approved_at: run.approvedAt?.toISOString() ?? null,
    finished_at: run.finishedAt?.toISOString() ?? null,
    seconds: Math.max(0, Math.round((until.getTime() - run.createdAt.getTime()) / 1_000)),
    cancelled: run.cancelled,
    undone: run.undone,
  };
}

/** Lists what only the operator can do about the run, the most urgent first. */
function needsOperator(
  { run, contested_rows: contested, late_results: late }: Omit<RunReport, 'needs_person'>,
  decisions: readonly Pick<StatusReason, 'reason' | 'next'>[],
): RunReport['needs_person'] {
  const { run_id: runId, status, reason, next } = run;
  const actions: Pick<StatusReason, 'reason' | 'next'>[] = [...decisions];
  if (reason !== null)
    actions.unshift({
      reason: `the run ${status === 'failed' ? 'has' : 'is'} ${status}: ${reason}`,
      next: next ?? `enrich resume ${runId}`,
    });
  else if (status === 'awaiting_approval')
    actions.unshift({
      reason: 'the plan waits for approval; the run has spent nothing yet',
      next: `enrich approve ${runId}`,
    });
  if (contested > 0) actions.push(contestedRecordsProblem(contested));
  if (late.quarantined > 0)
    actions.push({
      reason: `${formatCount(late.quarantined, 'delivery', 'deliveries')} could not be read`,
      next: `enrich inbox list ${runId} --status quarantined`,
    });
  return actions.map((action) => ({
    what: `${action.reason.charAt(0).toUpperCase()}${action.reason.slice(1)}.`,
    next: action.next,
  }));
}
