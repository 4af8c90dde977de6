import { ScheduleOverlapPolicy, type Client } from '@temporalio/client';
import { msToTs, tsToMs } from '@temporalio/common/lib/time.js';
import { UsageProblem } from '../../domain/problem.ts';
import type { ScheduleDefinition } from './schedule-definition.ts';

/** Times of a schedule after `start` and until `end`, as Temporal's backfill takes them. */
export interface MissedTimes {
  readonly start: Date;
  readonly end: Date;
  /** The earliest first. */
  readonly times: readonly Date[];
}

/**
 * The past times of a schedule in a range. Future times are left to the schedule.
 *
 * @param range.from the first moment
 * @param range.to the first moment after it
 * @throws Problem `schedule.no-time`: exit code 2
 */
export async function missedTimes(
  client: Client,
  name: string,
  range: { readonly from: Date; readonly to: Date; readonly now: Date },
): Promise<MissedTimes> {
  const start = new Date(range.from.getTime() - 1);
  // Temporal includes the end: midnight after the last day would begin a run of a day outside the range.
  const last = new Date(range.to.getTime() - 1);
  const end = last < range.now ? last : range.now;
  const times = start < end ? await matchingTimes(client, name, start, end) : [];
  if (times.length > 0) return { start, end, times };
  throw new UsageProblem('schedule.no-time', 'the schedule has no past time in this range', {
    where: `${name}, ${range.from.toISOString()} to ${range.to.toISOString()}`,
    next: `enrich schedule show ${name} shows its times; future times need no backfill`,
  });
}

/**
 * Refuses a backfill whose times would all read the present export, each under a past date.
 *
 * @throws Problem `schedule.no-date`: exit code 2
 */
export function requireDate({ name, work }: ScheduleDefinition): void {
  if (work.export.from.includes('{date}')) return;
  throw new UsageProblem(
    'schedule.no-date',
    'the export of the schedule has no {date}: each missed time would read the present export',
    {
      where: `${name}: ${work.export.from}`,
      next: `enrich schedule trigger ${name} reads the present export once`,
    },
  );
}

/** Starts the missed times of a schedule, one after another. */
export async function backfillSchedule(
  client: Client,
  name: string,
  { start, end }: MissedTimes,
): Promise<void> {
  await client.schedule.getHandle(name).backfill({ start, end, overlap: ScheduleOverlapPolicy.BUFFER_ALL });
}

/** Temporal lists at most a thousand times at once, but runs all times of the range. */
async function matchingTimes(client: Client, scheduleId: string, start: Date, end: Date): Promise<Date[]> {
  const times: Date[] = [];
  let after = start.getTime();
  while (after < end.getTime()) {
    const { startTime } = await client.workflowService.listScheduleMatchingTimes({
      namespace: client.options.namespace,
      scheduleId,
      startTime: msToTs(after),
      endTime: msToTs(end.getTime()),
    });
    if (startTime.length === 0) break;
    times.push(...startTime.map((time) => new Date(tsToMs(time))));
    after = times.at(-1)!.getTime() + 1;
  }
  return times;
}
