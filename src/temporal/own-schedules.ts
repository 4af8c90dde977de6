import {
  ScheduleAlreadyRunning,
  ScheduleOverlapPolicy,
  type Client,
  type ScheduleSpec,
} from '@temporalio/client';
import {
  controlTaskQueue,
  pruneScheduleId,
  sweepScheduleId,
  workflowTypes,
} from '../contract/temporal-names.ts';

/** What came too late for its run waits for at most this long. */
const sweepEvery = '5 minutes';

/** Creates the schedule that sweeps late results of ended runs, if it is missing. */
export function ensureSweepSchedule(client: Client): Promise<void> {
  return ensureSchedule(client, {
    scheduleId: sweepScheduleId,
    workflowType: workflowTypes.sweep,
    spec: { intervals: [{ every: sweepEvery }] },
    summary: 'late results of runs that have ended',
    note: 'applies deliveries that came after the end of their run, and polls what is still awaited',
  });
}

/** Makes the schedule that removes what is older than `RETENTION` every night, where it is missing. */
export function ensurePruneSchedule(client: Client): Promise<void> {
  return ensureSchedule(client, {
    scheduleId: pruneScheduleId,
    workflowType: workflowTypes.prune,
    spec: { calendars: [{ hour: 4, minute: 15 }], timezone: 'UTC', jitter: '15 minutes' },
    summary: 'remove what is older than RETENTION',
    note:
      'removes bodies of answers and deliveries, and what staged rows say of people, as the workers’ ' +
      'RETENTION says',
  });
}

/**
 * These can be paused and triggered in Temporal like any other; one that is there is left as it is. Each takes
 * everything that is there, so those that were missed need not be made up for.
 */
async function ensureSchedule(
  client: Client,
  schedule: {
    readonly scheduleId: string;
    readonly workflowType: string;
    readonly spec: ScheduleSpec;
    readonly summary: string;
    readonly note: string;
  },
): Promise<void> {
  const { scheduleId, workflowType, spec, summary, note } = schedule;
  try {
    await client.schedule.create({
      scheduleId,
      spec,
      policies: { overlap: ScheduleOverlapPolicy.SKIP, catchupWindow: '1 minute' },
      action: {
        type: 'startWorkflow',
        workflowType,
        workflowId: scheduleId,
        taskQueue: controlTaskQueue,
        args: [],
        staticSummary: summary,
        staticDetails: note,
      },
      state: { note },
    });
  } catch (error) {
    if (!(error instanceof ScheduleAlreadyRunning)) throw error;
  }
}
