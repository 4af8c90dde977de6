import { defineQuery, defineSignal, defineUpdate } from '@temporalio/workflow';
import type { OperatorReason } from '../src/contract/pause-reasons.ts';
import { budgetChangedSignalName, deliveryReceivedSignalName } from '../src/contract/temporal-names.ts';
import type { RunProgress } from './run-details.ts';

/** The plan's hash binds the approval to the plan that the person has read. */
export const approveUpdate = defineUpdate<void, [planHash: string]>('approve');
export const pauseUpdate = defineUpdate<void, [why: OperatorReason]>('pause');
export const resumeUpdate = defineUpdate<void>('resume');
export const cancelUpdate = defineUpdate<void, [why: OperatorReason]>('cancel');

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

export const progressQuery = defineQuery<RunProgress>('progress');
