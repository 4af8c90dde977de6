import type { ScheduledRunResult } from '../../contract/run-input.ts';
import { Problem } from '../../domain/problem.ts';
import { formatLocalTime } from '../../domain/text/time-zone.ts';
import { findExports } from '../../ingest/sources/find-export.ts';
import { obtainExport } from '../../ingest/sources/obtain-export.ts';
import { getRun } from '../../runs/runs.ts';
import { isWorkflowGone } from '../../temporal/connection.ts';
import type { Session } from '../session/session.ts';
import { describeFields, formatRecords } from '../terminal/output.ts';
import { flagsOfSchedule, type ScheduleDefinition } from './schedule-definition.ts';
import { childWorkflowIds, type StoredSchedule } from './schedule-server.ts';

/** Maximum number of past and of coming times that are shown. */
const timesShown = 5;

/** A schedule as `--json` prints it. A paused schedule has no times to come. */
export type ScheduleFacts = Awaited<ReturnType<typeof scheduleFactsOf>>;

export function describeSchedules(schedules: readonly ScheduleFacts[]): string {
  if (schedules.length === 0) return 'no schedules yet; enrich schedule set --help shows how to create one';
  return formatRecords(
    schedules.map(({ name, flags, paused, note, next, recent }) => {
      const { cron = '', timezone = 'UTC' } = flags;
      const last = recent.at(-1);
      const isGood = last === undefined || last.status === 'completed' || last.status === 'running';
      return {
        schedule: name,
        cron,
        timezone,
        next: paused ? 'paused' : shown(timezone, next[0]),
        last: last && `${shown(timezone, last.scheduled_at)} ${last.status}`,
        why: [paused && note, !isGood && last.summary].filter(Boolean).join('; '),
      };
    }),
  );
}

/** Reads the flags, the coming times, and the past times with their runs. */
export async function scheduleFactsOf(session: Session, { definition, description }: StoredSchedule) {
  const { state, info } = description;
  const recent = [];
  for (const { scheduledAt, action } of info.recentActions.slice(-timesShown))
    recent.push({ scheduled_at: scheduledAt.toISOString(), ...(await pastTime(session, action.workflow)) });
  return {
    name: definition.name,
    paused: state.paused,
    note: state.note ?? null,
    flags: flagsOfSchedule(definition),
    // Temporal computes times for a paused schedule too.
    next: (state.paused ? [] : info.nextActionTimes.slice(0, timesShown)).map((time) => time.toISOString()),
    skipped: info.numActionsSkippedOverlap,
    missed: info.numActionsMissedCatchupWindow,
    recent,
  };
}

export function describeSchedule(facts: ScheduleFacts): string {
  const { name, flags, paused, note, next, skipped, missed, recent } = facts;
  const zone = flags['timezone'] ?? 'UTC';
  return [
    // Temporal keeps the note of the last pause, so the note is shown only while the schedule is paused.
    `${name}: ${paused ? `paused${note ? ` (${note})` : ''}` : 'on'}`,
    describeFields({ ...flags, next: next.map((time) => shown(zone, time)), skipped, missed }),
    `last times (${zone}):${recent.length === 0 ? ' none' : ''}`,
    ...recent.flatMap((time) => [
      `  ${shown(zone, time.scheduled_at)}  ${time.status}: ${time.summary.replaceAll('\n', '\n  ')}`,
      ...time.runs.map((runId) => `    enrich status ${runId}`),
    ]),
  ].join('\n');
}

/** Describes the export found now. None is only a note: workers may reach what this machine cannot. */
export async function describeFoundExport(
  { config, warehouse }: Pick<Session, 'config' | 'warehouse'>,
  { name, timezone, work }: ScheduleDefinition,
): Promise<string> {
  try {
    const access = { ...config.exportAccess, pool: warehouse.pool };
    const found = await findExports(work.export, new Date(), timezone, access);
    const newest = found.at(-1)?.address;
    if (newest?.kind === 'file') await obtainExport(newest, access);
    const more = found.length > 1 ? ` and ${found.length - 1} more, of which it takes the new ones` : '';
    return `${name} would find now: ${newest?.shown ?? 'no file'}${more}; enrich plan shows the price of an export`;
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    const { message, where = '' } = error;
    return `note: ${name}: ${message} (${where}), on this machine; a worker searches again at its time`;
  }
}

/** Describes a past time by its workflow: status, summary, ids of runs. `gone`: deleted in Temporal. */
async function pastTime(
  session: Session,
  workflow: { readonly workflowId: string; readonly firstExecutionRunId: string },
) {
  const client = await session.temporal();
  const workflow_id = workflow.workflowId;
  const handle = client.workflow.getHandle(workflow_id, workflow.firstExecutionRunId);
  try {
    const { status, raw } = await handle.describe();
    if (status.name === 'RUNNING') {
      const runs = childWorkflowIds(raw);
      return { workflow_id, runs, ...(await statusOfOpenTime(session, runs)) };
    }
    const { summary, runs } = await handle.result().then(
      (result) => result as ScheduledRunResult,
      (error: Error) => ({ summary: innermost(error).message, runs: [] }),
    );
    const ids = runs.map(({ runId }) => runId);
    return { workflow_id, status: status.name.toLowerCase(), summary, runs: ids };
  } catch (error) {
    if (!isWorkflowGone(error)) throw error;
    return { workflow_id, status: 'gone', summary: 'Temporal no longer has its history', runs: [] };
  }
}

/** Returns the status of a scheduled time. A paused run comes first, because it needs the operator. */
async function statusOfOpenTime({ warehouse }: Session, runIds: readonly string[]) {
  for (const runId of runIds) {
    // Temporal may know runs of an earlier warehouse, which this warehouse does not have.
    const run = await getRun(warehouse, runId).catch(() => undefined);
    if (run?.status !== 'paused' || !run.pauseReason) continue;
    const { reason, next } = run.pauseReason;
    return { status: 'paused', summary: `${run.fileName}: ${reason}; next: ${next}` };
  }
  return { status: 'running', summary: runIds.length > 0 ? 'enriching' : 'no run yet' };
}

/** Finds the first cause of an error. Temporal's wrappers say only where an error happened. */
function innermost(error: Error): Error {
  return error.cause instanceof Error ? innermost(error.cause) : error;
}

/** Formats a time in a time zone; `-` if there is none. */
function shown(timezone: string, time: string | undefined): string {
  return time === undefined ? '-' : formatLocalTime(timezone, new Date(time));
}
