import type { Client } from '@temporalio/client';
import { isWorkerThere } from '../../temporal/connection.ts';
import { getSchedule } from './schedule-server.ts';

/** A scheduled time whose workflow has not ended. */
export interface OpenTime {
  readonly workflowId: string;
  /** Ids of its runs in progress. */
  readonly runs: readonly string[];
}

export interface DeletedSchedule {
  readonly cancelled: readonly string[];
  readonly continuing: readonly string[];
  /** What happens to each open time, one line each. */
  readonly notes: readonly string[];
}

/** Reads the scheduled times whose workflows have not ended. @throws Problem `schedule.unknown`, `schedule.foreign` */
export async function openTimesOf(client: Client, name: string): Promise<OpenTime[]> {
  const { description } = await getSchedule(client, name);
  const times: OpenTime[] = [];
  for (const { workflow } of description.info.runningActions) {
    const { status, raw } = await client.workflow.getHandle(workflow.workflowId).describe();
    if (status.name !== 'RUNNING') continue;
    const runs = (raw.pendingChildren ?? []).flatMap((child) => child.workflowId ?? []);
    times.push({ workflowId: workflow.workflowId, runs });
  }
  return times;
}

/**
 * Deletes a schedule. Cancels its times that have begun no run: otherwise the next worker would begin one.
 *
 * @param cancelsRuns also cancel times with runs in progress
 * @param now as for `isWorkerThere`
 */
export async function deleteSchedule(
  client: Client,
  name: string,
  times: readonly OpenTime[],
  cancelsRuns: boolean,
  now: Date,
): Promise<DeletedSchedule> {
  await client.schedule.getHandle(name).delete();
  const isCancelled = ({ runs }: OpenTime): boolean => cancelsRuns || runs.length === 0;
  const cancelled = times.filter(isCancelled).map(({ workflowId }) => workflowId);
  for (const id of cancelled) await client.workflow.getHandle(id).cancel();
  const hasWorker = await isWorkerThere(client, now);
  return {
    cancelled,
    continuing: times.filter((time) => !isCancelled(time)).map(({ workflowId }) => workflowId),
    notes: times.map((time) =>
      isCancelled(time) ? noteOfCancelled(time, hasWorker) : noteOfContinuing(time, hasWorker),
    ),
  };
}

function noteOfCancelled({ workflowId, runs }: OpenTime, hasWorker: boolean): string {
  const when = hasWorker ? 'a worker cancels it now' : 'the next worker that starts cancels it';
  const rest = runs.length === 0 ? 'it has begun no run' : 'calls in flight end, and paid results stay';
  return `${workflowId}: ${when}; ${rest}`;
}

function noteOfContinuing({ runs }: OpenTime, hasWorker: boolean): string {
  const how = hasWorker ? 'continues' : 'continues when a worker starts';
  const commands = runs.map((id) => `enrich cancel ${id}`).join(', ');
  return `${runs.join(', ')} has not ended and ${how}; to cancel: ${commands}`;
}
