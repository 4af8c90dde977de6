import { ScheduleAlreadyRunning, ScheduleOverlapPolicy, type Client } from '@temporalio/client';
import { controlTaskQueue, sweepScheduleId, workflowTypes } from '../contract.ts';

/** What came too late for its run waits for at most this long. */
const every = '5 minutes';

/**
 * Makes the schedule that looks after late results of runs that have ended, where it is missing. It can be paused and
 * triggered in Temporal like any other; one that is there is left as it is.
 */
export async function ensureSweepSchedule(client: Client): Promise<void> {
  try {
    await client.schedule.create({
      scheduleId: sweepScheduleId,
      spec: { intervals: [{ every }] },
      // A sweep takes everything that is there: those that were missed need not be made up for.
      policies: { overlap: ScheduleOverlapPolicy.SKIP, catchupWindow: '1 minute' },
      action: {
        type: 'startWorkflow',
        workflowType: workflowTypes.sweep,
        workflowId: sweepScheduleId,
        taskQueue: controlTaskQueue,
        args: [],
        staticSummary: 'late results of runs that have ended',
      },
      state: {
        note: 'applies deliveries that came after the end of their run, and polls what is still awaited',
      },
    });
  } catch (error) {
    if (!(error instanceof ScheduleAlreadyRunning)) throw error;
  }
}
