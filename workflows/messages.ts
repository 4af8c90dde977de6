import { defineQuery, defineSignal, defineUpdate } from '@temporalio/workflow';
import type { OperatorReason } from '../src/contract/pause-reasons.ts';
import { budgetChangedSignalName, deliveryReceivedSignalName } from '../src/contract/temporal-names.ts';
import type { RunProgress } from './run-details.ts';

/** Update that approves a run's plan. The hash binds the approval to the plan that the operator has read. */
export const approveUpdate = defineUpdate<void, [planHash: string]>('approve');
export const pauseUpdate = defineUpdate<void, [why: OperatorReason]>('pause');
export const resumeUpdate = defineUpdate<void>('resume');
export const cancelUpdate = defineUpdate<void, [why: OperatorReason]>('cancel');

/** Signal from a command to a run that waits for a budget: the budget has changed. */
export const budgetChangedSignal = defineSignal(budgetChangedSignalName);

/** Signal from a run to its page: what the page waits for may have changed. */
export const wakeSignal = defineSignal('wake');
/** Signal from a run to its page: make no further call, and end. */
export const endPageSignal = defineSignal('end');
/** Signal from a page to its run: why the page waits for its next call. Null if the page continues. */
export const pageWaitsSignal = defineSignal<[reason: string | null]>('pageWaits');

/** Signal from the receiver to a run: the inbox has a delivery. It has no content, so it may be lost or repeated. */
export const deliveryReceivedSignal = defineSignal(deliveryReceivedSignalName);

export const progressQuery = defineQuery<RunProgress>('progress');
