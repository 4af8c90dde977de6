import type { LateResultsStatus, RunFacts } from './run-facts.ts';
import type { StatusReason } from './pause-reasons.ts';
import type { PlanSummary } from './plan-summary.ts';
import type { RunStatus } from './run-transitions.ts';
import type { ScheduledRunInput, ScheduledRuns } from './run-input.ts';

// Temporal's history keeps every value of these types: ids, counts, times and reasons, never personal data or secrets.

export interface RunRequest {
  readonly runId: string;
}

/** Input of an activity that an update of the workflow can cause. */
export interface UpdateRequest extends RunRequest {
  /** Id of the update. Temporal sends updates again after a reset, so the activity applies each id only once. */
  readonly updateId?: string | undefined;
}

export interface PageRequest extends RunRequest {
  readonly page: number;
}

export interface BatchesRequest extends PageRequest {
  /** Numbers of batches, counted from 1 within the run. */
  readonly batches: readonly number[];
}

/** Result of judging a pilot: whether its run continues. The Temporal UI shows this result. */
export type PilotJudgement =
  | { readonly kind: 'continue'; readonly summary: string }
  | { readonly kind: 'pause'; readonly pauseReason: StatusReason }
  /** The run is already paused for another reason. Resuming that pause must not skip the judgement of the pilot. */
  | { readonly kind: 'postponed' };

/** What a run does when a budget is exhausted. */
export type BudgetResolution =
  /** The budget has credits again. */
  | { readonly kind: 'open' }
  /** The run ends, and people who were not looked up become `over_budget`. */
  | { readonly kind: 'finish'; readonly budget: string }
  /** The run waits for the operator, or for the next period of the budget. */
  | { readonly kind: 'wait'; readonly pauseReason: StatusReason; readonly milliseconds: number | null };

/** Result of a step that failed for good, with the reason why the run does not continue. */
interface Refused {
  readonly kind: 'refused';
  readonly pauseReason: StatusReason;
}

/** Result of staging the export of a run. */
export type IngestOutcome =
  | {
      readonly kind: 'ingested';
      readonly rows: number;
      readonly malformed: number;
      readonly source: string;
    }
  | Refused;

/** Result of planning a run. */
export type PlanOutcome =
  | { readonly kind: 'planned'; readonly plan: PlanSummary; readonly firstOpenPage: number }
  | Refused;

/** Result of checking the credential before a run spends credits. `status` is text for the Temporal UI. */
export type ServiceCheck = { readonly kind: 'ready'; readonly status: string } | Refused;

/** Result of opening a page: the people who were claimed for the run. */
export interface OpenedPage {
  /** Numbers of the batches that have people to look up. */
  readonly batches: readonly number[];
  readonly people: number;
}

/** Why a page makes no further call. */
type Ended =
  /** The budget has too few credits for one more person. The remaining people of the run become `over_budget`. */
  | { readonly kind: 'over_budget'; readonly budget: string }
  /** The run was paused or cancelled, or the service refuses the key or has no credits left. */
  | { readonly kind: 'stopped'; readonly pauseReason: StatusReason };

/** Result of one batch. */
export type BatchResult =
  | { readonly kind: 'done' }
  /** The rate windows are full, or the service requested a pause. The workflow continues the batch after this time. */
  | { readonly kind: 'wait'; readonly milliseconds: number; readonly reason: string }
  | Ended;

/** Result of several batches: `done`, or the reason why the batches in `left` are not done. */
export type BatchesResult = BatchResult & { readonly left: readonly number[] };

/** Result of a page. `unfinished`: the run stopped it or its history is long, and people are left. */
export type PageResult = { readonly kind: 'done' | 'unfinished' } | Ended;

/** Counts of the data that retention has removed. */
export interface PrunedCounts {
  /** Number of answers whose body was removed. */
  readonly answers: number;
  /** Number of deliveries whose body was removed. */
  readonly deliveries: number;
  /** Number of rows whose personal data was removed. */
  readonly rows: number;
  /** Number of runs whose data is older than `RETENTION` and was kept, because calls or deliveries are unfinished. */
  readonly heldRuns: number;
}

/** Activities of the control task queue. All are idempotent, because their state is in the database. */
export interface ControlActivities {
  ingestExport(request: RunRequest): Promise<IngestOutcome>;
  planRun(request: RunRequest): Promise<PlanOutcome>;
  /** Checks the credential with the service, and reads its user and its rate limits. */
  checkService(request: RunRequest): Promise<ServiceCheck>;
  /** Writes the status unless the operator has decided otherwise, and returns the facts with the stored status. */
  setRunStatus(
    request: UpdateRequest & {
      readonly status: RunStatus;
      readonly pauseReason?: StatusReason;
      /** How the operator caused the change. Undefined if the workflow itself changes the status. */
      readonly by?: 'resume' | 'approval';
    },
  ): Promise<RunFacts>;
  /** Returns the facts of a run as `enrich status --json` prints them. */
  readRunFacts(request: RunRequest): Promise<RunFacts>;
  /** Claims the people of a page, so that no other run calls for them. */
  openPage(request: PageRequest): Promise<OpenedPage>;
  /** Applies the run's inbox, makes the polls that are due, and returns the status of late results. */
  syncLateResults(request: RunRequest): Promise<LateResultsStatus>;
  /** Syncs late results of runs that have ended or lost their workflow. Returns how many deliveries took effect. */
  sweepLateResults(): Promise<{ readonly applied: number }>;
  /** Removes data older than the worker's `RETENTION`, and returns counts. */
  pruneWarehouse(): Promise<PrunedCounts>;
  /** Finds the exports of a schedule and begins their runs. A retry finds the same runs. */
  beginScheduledRuns(request: ScheduledRunInput & { readonly asOf: string }): Promise<ScheduledRuns>;
  /** Judges the pilot, and pauses the run in the tables if a quality gate or a missing approval requires this. */
  judgePilot(request: RunRequest): Promise<PilotJudgement>;
  /** Returns whether an exhausted budget has credits again (`open`), the run ends, or it waits for a budget. */
  resolveBudgetExhaustion(request: RunRequest): Promise<BudgetResolution>;
  /** Compares the run's contacts with stored people. Returns how many contacts got data and how many lost it. */
  reconcileContacts(request: RunRequest): Promise<{ readonly filled: number; readonly withdrawn: number }>;
  /** Gives the remaining rows an outcome, and ends the run. Status `paused`: the operator must act first. */
  finishRun(
    request: RunRequest & {
      readonly ending: 'finished' | 'over_budget' | 'cancelled';
      /** The exhausted budget, if it ended the run. */
      readonly budget?: string;
    },
  ): Promise<RunFacts>;
}

/** Activities of the task queues for calls. */
export interface CallActivities {
  enrichBatches(request: BatchesRequest): Promise<BatchesResult>;
}
