import type { LateResultsStatus, RunFacts } from './run-facts.ts';
import type { StatusReason } from './pause-reasons.ts';
import type { PlanSummary } from './plan-summary.ts';
import type { RunStatus } from './run-transitions.ts';
import type { ScheduledRunInput, ScheduledRuns } from './run-input.ts';

// Temporal's history keeps every value of these types: ids, counts, times and reasons, never personal data or secrets.

export interface RunRequest {
  readonly runId: string;
}

/** A request that an update of the workflow can make. */
export interface UpdateRequest extends RunRequest {
  /** Temporal sends updates again after a reset, with their ids. The activity gives an update its effect only once. */
  readonly updateId?: string | undefined;
}

export interface PageRequest extends RunRequest {
  readonly page: number;
}

export interface BatchesRequest extends PageRequest {
  /** From 1 within the run. */
  readonly batches: readonly number[];
}

/** Whether a run continues after its pilot, for people who read the result in the Temporal UI. */
export type PilotJudgement =
  | { readonly kind: 'continue'; readonly summary: string }
  | { readonly kind: 'pause'; readonly pauseReason: StatusReason }
  /** The run is paused for another reason. A resume ends this pause, and must not overrule a judgement too. */
  | { readonly kind: 'postponed' };

/** What a run does when a budget is exhausted. */
export type BudgetResolution =
  /** There are credits again. */
  | { readonly kind: 'open' }
  /** The run ends; people who were not asked for become `over_budget`. */
  | { readonly kind: 'finish'; readonly budget: string }
  /** The run waits for a person, or for the next period of the budget. */
  | { readonly kind: 'wait'; readonly pauseReason: StatusReason; readonly milliseconds: number | null };

/** A step that cannot be done, and why the run does not continue. */
interface Refused {
  readonly kind: 'refused';
  readonly pauseReason: StatusReason;
}

export type IngestOutcome =
  | {
      readonly kind: 'ingested';
      readonly rows: number;
      readonly malformed: number;
      readonly source: string;
    }
  | Refused;

export type PlanOutcome =
  | { readonly kind: 'planned'; readonly plan: PlanSummary; readonly firstOpenPage: number }
  | Refused;

/** What the service says about the credential before the run spends credits, as text for a person. */
export type ServiceCheck = { readonly kind: 'ready'; readonly status: string } | Refused;

export interface OpenedPage {
  /** Numbers of the batches that have people to ask for. */
  readonly batches: readonly number[];
  readonly people: number;
}

/** Why no call follows. */
type Ended =
  /** No credits are left for one more person; the remaining people of the run are over budget. */
  | { readonly kind: 'over_budget'; readonly budget: string }
  /**
   * No call may be sent now: the run was paused or cancelled, or the service refuses the key or has no credits left.
   */
  | { readonly kind: 'stopped'; readonly pauseReason: StatusReason };

/** Result of one batch. */
export type BatchResult =
  | { readonly kind: 'done' }
  /** The rate windows are full, or the service asked for a pause: the workflow continues the batch after this time. */
  | { readonly kind: 'wait'; readonly milliseconds: number; readonly reason: string }
  | Ended;

/** Result of several batches: `done`, or why the batches in `left` are not done. */
export type BatchesResult = BatchResult & { readonly left: readonly number[] };

/** `unfinished`: the run asked the page to end, or its history is long: some of its people are still open. */
export type PageResult = { readonly kind: 'done' | 'unfinished' } | Ended;

/** Counts of what retention removed. */
export interface Pruned {
  /** Bodies of answers. */
  readonly answers: number;
  /** Bodies of deliveries. */
  readonly deliveries: number;
  /** Rows of exports with removed personal data. */
  readonly rows: number;
  /** Runs with data older than its retention that is kept, because calls or deliveries are open. */
  readonly heldRuns: number;
}

/** Activities of the control queue. All are idempotent, because their state is in the database. */
export interface ControlActivities {
  ingestExport(request: RunRequest): Promise<IngestOutcome>;
  planRun(request: RunRequest): Promise<PlanOutcome>;
  /** Asks the service whether it accepts the credential, which user the credential has, and what its limits are. */
  checkService(request: RunRequest): Promise<ServiceCheck>;
  /** Writes the status, unless the operator has decided otherwise. Returns the run's figures with its status. */
  setRunStatus(
    request: UpdateRequest & {
      readonly status: RunStatus;
      readonly pauseReason?: StatusReason;
      /** The operator resumes the run, or approves its plan; undefined: the workflow changes the status itself. */
      readonly by?: 'resume' | 'approval';
    },
  ): Promise<RunFacts>;
  /** The figures of a run as `enrich status --json` prints them. */
  readRunFacts(request: RunRequest): Promise<RunFacts>;
  openPage(request: PageRequest): Promise<OpenedPage>;
  /** One sync: applies the run's inbox, makes the polls that are due, and returns the status of late results. */
  syncLateResults(request: RunRequest): Promise<LateResultsStatus>;
  /** A sync for runs that have ended or lost their workflow; returns how many deliveries took effect. */
  sweepLateResults(): Promise<{ readonly applied: number }>;
  /** Removes data older than the worker's `RETENTION`; returns the counts. */
  pruneWarehouse(): Promise<Pruned>;
  /** Finds the exports of a schedule and begins their runs; a retry finds the same runs. */
  beginScheduledRuns(request: ScheduledRunInput & { readonly asOf: string }): Promise<ScheduledRuns>;
  /** Judges the pilot, and pauses the run in the tables if a quality gate or the missing approval requires it. */
  judgePilot(request: RunRequest): Promise<PilotJudgement>;
  /** Decides what the run does when a page has no credits left. */
  resolveBudgetExhaustion(request: RunRequest): Promise<BudgetResolution>;
  /** Compares the contacts of the run with known people; returns how many got data and how many lost it. */
  reconcileContacts(request: RunRequest): Promise<{ readonly filled: number; readonly withdrawn: number }>;
  finishRun(
    request: RunRequest & {
      readonly ending: 'finished' | 'over_budget' | 'cancelled';
      /** The budget that ended it. */
      readonly budget?: string;
    },
  ): Promise<RunFacts>;
}

/** Activities of the call queues. */
export interface CallActivities {
  enrichBatches(request: BatchesRequest): Promise<BatchesResult>;
}
