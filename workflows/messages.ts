import { defineQuery, defineSignal, defineUpdate } from '@temporalio/workflow';
import type { LateResultsStatus } from '../src/contract/late-results-status.ts';
import type { Why } from '../src/contract/pause-reasons.ts';
import type { PlanSummary } from '../src/contract/plan-summary.ts';
import type { RunFigures } from '../src/contract/run-facts.ts';
import type { RunStatus } from '../src/contract/run-statuses.ts';
import { budgetChangedSignalName, deliveryReceivedSignalName } from '../src/contract/temporal-names.ts';
import type { RunWait } from './run-wait.ts';

/** The plan's hash binds the approval to the plan that the person has read. */
export const approveUpdate = defineUpdate<void, [planHash: string]>('approve');
export const pauseUpdate = defineUpdate<void, [why: Why]>('pause');
export const resumeUpdate = defineUpdate<void>('resume');
export const cancelUpdate = defineUpdate<void, [why: Why]>('cancel');

/** Credits, as text where a float would round them; `none` lifts the limit. */
export const raiseBudgetUpdate = defineUpdate<void, [limit: string | number]>('raiseBudget');

/** From a command to a run that waits for a budget: the budget has changed. */
export const budgetChangedSignal = defineSignal(budgetChangedSignalName);

/** From the run to its page: something that it waits for may have changed. */
export const wakeSignal = defineSignal('wake');
/** From the run to its page: begin no further call, and end. */
export const endPageSignal = defineSignal('end');
/** From a page to its run: why it waits until the next call may begin; null: it continues. */
export const pageWaitsSignal = defineSignal<[reason: string | null]>('pageWaits');

/** From the receiver to a run: the inbox has a delivery. The signal has no content, so it may be lost or repeated. */
export const deliveryReceivedSignal = defineSignal(deliveryReceivedSignalName);

export interface RunProgress {
  readonly runId: string;
  /** As the tables have it, as last read. */
  readonly status: RunStatus;
  /** Null: the run waits for nothing, or not for long. */
  readonly waitsFor: RunWait | null;
  readonly page: number;
  readonly pages: number;
  readonly plan: PlanSummary | null;
  /** What the service says about the credential and its limits; null: the command that began the run has asked. */
  readonly service: string | null;
  /** From the tables, as last read; null: not read yet. */
  readonly figures: RunFigures | null;
  /** Null where everything comes with the answers. */
  readonly late: LateResultsStatus | null;
}

export const progressQuery = defineQuery<RunProgress>('progress');
