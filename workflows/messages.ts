import { defineQuery, defineSignal, defineUpdate } from '@temporalio/workflow';
import type { BatchTally, PlanSummary, Stop } from '../src/contract.ts';

/** The plan's hash binds the approval: what was looked at is what is run. */
export const approveUpdate = defineUpdate<void, [planHash: string]>('approve');
export const pauseUpdate = defineUpdate<void, [reason: string]>('pause');
export const resumeUpdate = defineUpdate<void>('resume');
export const cancelUpdate = defineUpdate<void, [reason: string]>('cancel');

/** From the run to its page: something that it waits for may have changed. */
export const wakeSignal = defineSignal('wake');

export interface RunProgress {
  readonly phase:
    | 'ingesting'
    | 'planning'
    | 'awaiting approval'
    | 'enriching'
    | 'paused'
    | 'finishing'
    | 'finished'
    | 'cancelled'
    | 'failed';
  readonly page: number;
  readonly pages: number;
  readonly plan: PlanSummary | null;
  readonly stop: Stop | null;
  readonly tally: BatchTally;
}

export const progressQuery = defineQuery<RunProgress>('progress');
