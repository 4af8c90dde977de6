import { combineBatchResults } from '../../../src/calls/batches/enrich-batch.ts';
import type {
  BatchResult,
  BudgetResolution,
  CallActivities,
  ControlActivities,
  IngestOutcome,
  PilotJudgement,
  ServiceCheck,
} from '../../../src/contract/activities.ts';
import type { LateResultsStatus, RunFacts } from '../../../src/contract/run-facts.ts';
import { waitsForBudget, type PauseReason, type StatusReason } from '../../../src/contract/pause-reasons.ts';
import type { PlanSummary } from '../../../src/contract/plan-summary.ts';
import {
  isFinal,
  type RunStatus,
  eventForStatus,
  runTransitions,
} from '../../../src/contract/run-transitions.ts';
import type { ScheduledRuns, RunInput } from '../../../src/contract/run-input.ts';
import { exampleFacts, examplePlan } from '../outputs/run-facts.ts';

/** Returns the state of a run in `runTransitions`. @param reason why the run is paused */
export function stateOf(status: RunStatus, reason: StatusReason | null | undefined): string {
  return status === 'paused' && waitsForBudget(reason) ? 'waiting_for_budget' : status;
}

export const nothingAwaited: LateResultsStatus = {
  awaited: 0,
  expired: 0,
  arrived: 0,
  polled: 0,
  late: 0,
  duplicate: 0,
  quarantined: 0,
  waiting: 0,
  until: null,
  readAt: '2026-11-21T12:00:00.000Z',
  nextPollAt: null,
  nextSyncAt: null,
};

/** Activities that return scripted results, for tests of the workflows' decisions. */
export class ScriptedActivities implements ControlActivities, CallActivities {
  /** Every status that the workflow has written, also if the tables have refused it. */
  readonly statuses: string[] = [];
  /** The status in the tables, and its reason. */
  status: RunStatus = 'ingesting';
  reason: StatusReason | undefined;
  /** Finished batches. */
  readonly batches: number[] = [];
  /** The batches that each execution of the activity enrichBatches was given. */
  readonly handed: (readonly number[])[] = [];
  ending = '';
  ingested: IngestOutcome = { kind: 'ingested', rows: 2_000, malformed: 0, source: 'hubspot' };
  /** Result of the nth execution of a batch; default: `done`. */
  answer: (batch: number, execution: number) => BatchResult | Promise<BatchResult> = () => ({
    kind: 'done',
  });
  #executions = 0;

  ingestExport: ControlActivities['ingestExport'] = async () => this.ingested;

  plan: PlanSummary = examplePlan;
  unmet: PauseReason | undefined;
  isApproved = true;

  planRun: ControlActivities['planRun'] = async () => {
    if (this.unmet) this.write('paused', this.unmet);
    return { kind: 'planned', plan: this.plan, firstOpenPage: 1 };
  };

  /** Result of the nth check of the credential. */
  service: (check: number) => ServiceCheck = () => ({ kind: 'ready', status: 'acting as user user-7' });
  checks = 0;

  checkService: ControlActivities['checkService'] = async () => {
    this.checks += 1;
    return this.service(this.checks);
  };

  setRunStatus: ControlActivities['setRunStatus'] = async ({ runId, status: wanted, pauseReason, by }) => {
    // After the end of a run, the next run of a schedule begins.
    if (isFinal(this.status)) this.write('ingesting');
    this.isApproved ||= by === 'approval';
    const status = wanted === 'running' && !this.isApproved ? 'awaiting_approval' : wanted;
    this.statuses.push(status);
    const { from } = runTransitions[eventForStatus(wanted, pauseReason, by === 'resume')];
    if (from.some((state) => state === stateOf(this.status, this.reason))) this.write(status, pauseReason);
    return this.facts(runId);
  };

  /** Writes the status to the tables, as a command or a call does. */
  write(status: RunStatus, reason?: StatusReason): void {
    this.status = status;
    this.reason = reason;
  }

  readRunFacts: ControlActivities['readRunFacts'] = async ({ runId }) => this.facts(runId);

  openPage: ControlActivities['openPage'] = async ({ page }) => {
    const all = page === 1 ? [1, 2, 3] : [101, 102];
    return { batches: all.filter((batch) => !this.batches.includes(batch)), people: 10 * all.length };
  };

  enrichBatches: CallActivities['enrichBatches'] = async ({ batches }) => {
    this.handed.push(batches);
    return combineBatchResults(
      await Promise.all(
        batches.map(async (batch) => {
          this.#executions += 1;
          const result = await this.answer(batch, this.#executions);
          if (result.kind === 'done') this.batches.push(batch);
          if (result.kind === 'stopped') this.#pauseCalls(result.pauseReason);
          return { batch, result };
        }),
      ),
    );
  };

  #pauseCalls(reason: StatusReason): void {
    if (this.status === 'running' || waitsForBudget(this.reason)) this.write('paused', reason);
  }

  /** Result of the nth sync of late results; default: no late results are awaited. */
  sync: (number: number) => LateResultsStatus | Promise<LateResultsStatus> = () => nothingAwaited;
  syncs = 0;

  syncLateResults: ControlActivities['syncLateResults'] = async () => {
    this.syncs += 1;
    return this.sync(this.syncs);
  };

  sweepLateResults: ControlActivities['sweepLateResults'] = async () => ({ applied: 0 });

  pruneWarehouse: ControlActivities['pruneWarehouse'] = async () => ({
    answers: 1,
    deliveries: 2,
    rows: 3,
    heldRuns: 0,
  });

  /** Result of `beginScheduledRuns`: the runs that a schedule begins; default: none. */
  scheduled: ScheduledRuns = { runs: [], refused: [] };
  readonly scheduledFor: string[] = [];

  beginScheduledRuns: ControlActivities['beginScheduledRuns'] = async ({ asOf }) => {
    this.scheduledFor.push(asOf);
    return this.scheduled;
  };

  /** Judgement that the activity judgePilot writes to the tables. */
  judgement: PilotJudgement = { kind: 'continue', summary: 'good' };
  judgements = 0;

  /** Called by the activity judgePilot after the tables have the judgement; its result is the activity's result. */
  judge = async (): Promise<PilotJudgement> => this.judgement;

  judgePilot: ControlActivities['judgePilot'] = async () => {
    this.judgements += 1;
    if (this.judgement.kind === 'pause') this.#pauseCalls(this.judgement.pauseReason);
    return this.judge();
  };

  /** Result of the nth exhausted budget; default: the run ends. */
  meeting: (number: number) => BudgetResolution | Promise<BudgetResolution> = () => ({
    kind: 'finish',
    budget: 'run:x',
  });
  meetings = 0;

  resolveBudgetExhaustion: ControlActivities['resolveBudgetExhaustion'] = async () => {
    this.meetings += 1;
    return this.meeting(this.meetings);
  };

  /** Number of executions of the activity reconcileContacts. */
  comparisons = 0;
  reconcileContacts: ControlActivities['reconcileContacts'] = async () => {
    this.comparisons += 1;
    return { filled: 0, withdrawn: 0 };
  };

  finishRun: ControlActivities['finishRun'] = async ({ runId, ending }) => {
    this.ending = ending;
    this.write(ending === 'cancelled' ? 'cancelled' : 'finished');
    return this.facts(runId);
  };

  /** Run facts as the tables would have them: every answered batch has enriched eight contacts. */
  facts(runId: string): RunFacts {
    const { status, reason } = this;
    const asked = 10 * this.batches.length;
    return {
      ...exampleFacts,
      run_id: runId,
      workflow_id: runId,
      status,
      reason_type: reason?.type ?? null,
      reason: reason?.reason ?? null,
      next: reason?.next ?? null,
      plan_hash: this.plan.plan_hash,
      rows: this.plan.rows,
      outcomes: {
        ...this.plan.dropped,
        enriched: 0.8 * asked,
        not_found: 0.2 * asked,
        open: this.plan.people - asked,
      },
      calls: this.batches.length,
      credits: { settled: String(0.8 * asked), reserved: '0', unknown: '0' },
    };
  }
}

export function runInput(runId: string, changes: Partial<RunInput> = {}): RunInput {
  return {
    runId,
    file: 'contacts.csv',
    maxCredits: null,
    batchConcurrency: 2,
    priority: 'ad-hoc',
    searchable: false,
    checksService: false,
    ...changes,
  };
}
