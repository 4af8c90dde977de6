import { inOrderOfOutcomes } from '../domain/runs/outcome.ts';
import type { RateLimit } from '../domain/rates/rate-limit.ts';
import type { Warehouse } from '../db/database.ts';
import { readRunFacts } from '../runs/read-run-facts.ts';
import { getRun, sourceOf, type RunRecord } from '../runs/runs.ts';
import { evaluateTruth } from './evaluation/evaluate-truth.ts';
import { needsPerson } from './needs-person.ts';
import { readCalls } from './figures/read-calls.ts';
import { readCosts } from './figures/read-costs.ts';
import { readCoverage } from './figures/read-coverage.ts';
import { readCredits } from './figures/read-credits.ts';
import { readWaste } from './figures/read-waste.ts';
import { readLateResults } from './figures/read-late-results.ts';
import { readContestedRows, readLostContacts } from './figures/read-row-figures.ts';
import type { ReportedRun, RunReport } from './report-types.ts';

/**
 * Reads the report of a run with a few statements in one snapshot, so that its parts add up while the run
 * continues.
 *
 * @param runId a run's id, or `latest`
 * @param options.rateLimits the current limits, against which calls are drawn
 * @param options.now the time of the report
 * @param options.truth a file of known values to compare with
 * @throws Problem `run.unknown`
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
  const { database } = warehouse;
  return database
    .transaction()
    .setIsolationLevel('repeatable read')
    .setAccessMode('read only')
    .execute(async (transaction) => {
      const snapshot = { ...warehouse, database: transaction };
      const run = await getRun(snapshot, runId);
      const facts = await readRunFacts(snapshot, run.runId);
      const { approved_at: approvedAt } = await transaction
        .selectFrom('runs')
        .select('approved_at')
        .where('run_id', '=', run.runId)
        .executeTakeFirstOrThrow();
      const credits = await readCredits(transaction, run);
      const lateResults = await readLateResults(snapshot, run.runId);
      const report = {
        report_version: 1 as const,
        generated_at: options.now.toISOString(),
        run: describe(run, facts.service, approvedAt, options.now),
        outcomes: inOrderOfOutcomes(facts.outcomes),
        contested_rows: await readContestedRows(transaction, run.runId),
        lost_contacts: await readLostContacts(transaction, run.runId),
        coverage: await readCoverage(transaction, run),
        credits,
        waste: await readWaste(transaction, run.runId),
        costs: await readCosts(transaction, run, credits),
        calls: await readCalls(transaction, run, options.rateLimits),
        late_results: lateResults,
      };
      const { truth } = options;
      const evaluation =
        truth === undefined ? undefined : await evaluateTruth(transaction, truth, sourceOf(run));
      return { ...report, ...(evaluation && { evaluation }), needs_person: needsPerson(report) };
    });
}

function describe(run: RunRecord, service: string, approvedAt: Date | null, now: Date): ReportedRun {
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
