import { defineQuery, defineSignal, defineUpdate } from '@temporalio/workflow';
import {
  mailSignalName,
  type BatchTally,
  type LateStanding,
  type PlanSummary,
  type Stop,
} from '../src/contract.ts';

/** The plan's hash binds the approval: what was looked at is what is run. */
export const approveUpdate = defineUpdate<void, [planHash: string]>('approve');
export const pauseUpdate = defineUpdate<void, [reason: string]>('pause');
export const resumeUpdate = defineUpdate<void>('resume');
export const cancelUpdate = defineUpdate<void, [reason: string]>('cancel');

/** From the run to its page: something that it waits for may have changed. */
export const wakeSignal = defineSignal('wake');

/** From the receiver to a run: a delivery lies in the inbox. It says nothing more, so it may be lost or repeated. */
export const mailSignal = defineSignal(mailSignalName);

export interface RunProgress {
  readonly phase:
    | 'ingesting'
    | 'planning'
    | 'awaiting approval'
    | 'enriching'
    | 'paused'
    | 'awaiting late results'
    | 'finishing'
    | 'finished'
    | 'cancelled'
    | 'failed';
  readonly page: number;
  readonly pages: number;
  readonly plan: PlanSummary | null;
  /** What the service says of the credential and of its limits; null where the command that began the run asked. */
  readonly service: string | null;
  readonly stop: Stop | null;
  readonly tally: BatchTally;
  /** Null where everything comes with the answers. */
  readonly late: LateStanding | null;
}

export const progressQuery = defineQuery<RunProgress>('progress');
