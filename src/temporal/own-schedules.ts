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
import { registerSearchAttributes } from './connection.ts';

/** Longest time until a stored delivery reaches a run that has ended. */
const sweepEvery = '5 minutes';

/** Creates the product's own Temporal schedules. @param prunes whether the workers have a `RETENTION` */
export async function createOwnSchedules(client: Client, prunes: boolean): Promise<void> {
  await registerSearchAttributes(client);
  await ensureSchedule(client, ownSchedules.sweep);
  if (prunes) await ensureSchedule(client, ownSchedules.prune);
}

export const ownSchedules = {
  sweep: {
    scheduleId: sweepScheduleId,
    workflowType: workflowTypes.sweep,
    spec: { intervals: [{ every: sweepEvery }] },
    summary: 'late results of runs that have ended',
    note: 'applies deliveries to ended runs, and polls their awaited results',
  },
  prune: {
    scheduleId: pruneScheduleId,
    workflowType: workflowTypes.prune,
    spec: { calendars: [{ hour: 4, minute: 15 }], timezone: 'UTC', jitter: '15 minutes' },
    summary: 'remove data older than RETENTION',
    note: 'removes data that is older than the RETENTION of the workers',
  },
} satisfies Readonly<Record<string, { readonly spec: ScheduleSpec } & Readonly<Record<string, unknown>>>>;

/** Creates a schedule, unless it exists: operators may have paused or changed it. */
async function ensureSchedule(
  client: Client,
  { scheduleId, workflowType, spec, summary, note }: (typeof ownSchedules)['sweep' | 'prune'],
): Promise<void> {
  try {
    await client.schedule.create({
      scheduleId,
      spec,
      // A missed time is not caught up, because the next one handles all data.
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
