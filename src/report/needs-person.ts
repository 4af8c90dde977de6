import { counted, nounFor } from '../domain/text/counted.ts';
import {
  afterLostAnswers,
  afterOverBudget,
  afterUnknownCalls,
  contestedRecords,
} from '../runs/needed-decisions.ts';
import type { Action, RunReport } from './report-types.ts';

/** The actions that only a person can take, most urgent first. */
export function needsPerson(report: Omit<RunReport, 'needs_person'>): Action[] {
  const { run, outcomes, credits, calls, late_results: late } = report;
  const actions: Action[] = [];
  if (run.reason !== null)
    actions.push({
      what: `The run ${run.status === 'failed' ? 'has' : 'is'} ${run.status}: ${run.reason}.`,
      next: run.next ?? resume(run.run_id),
    });
  else if (run.status === 'awaiting_approval')
    actions.push({
      what: 'The plan waits for approval. The run has spent nothing yet.',
      next: resume(run.run_id),
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

function resume(runId: string): string {
  return `enrich resume ${runId}`;
}
