import type { ScheduleDescription } from '@temporalio/client';
import type { ScheduledRunResult } from '../../contract/scheduled-run-input.ts';
import { Problem } from '../../domain/problem.ts';
import { cronMistake, skippedTimes } from '../../domain/text/cron.ts';
import { clockIn } from '../../domain/text/time-zone.ts';
import { getRun, type RunRecord } from '../../runs/runs.ts';
import { labelled, table } from '../terminal/layout.ts';
import { fieldsOf } from './schedule-definition.ts';
import { overrunWarning } from './schedule-outlook.ts';
import type { KnownSchedule } from './schedule-server.ts';
import type { Session } from '../session/session.ts';
import { hasWorker } from '../run/describe/present-status.ts';
import { workflowFailing } from '../run/steer/send-update.ts';
import { isWorkflowGone } from '../../temporal/connection.ts';
import { readTaskFailure } from '../../temporal/failing-workflow.ts';

const timesShown = 5;

/** What `--json` prints of a schedule. */
export interface ScheduleFacts {
  readonly name: string;
  readonly paused: boolean;
  /** Note in Temporal, such as why the schedule is paused. */
  readonly note: string | null;
  readonly flags: Readonly<Record<string, string>>;
  /** At most five; none while the schedule is paused. */
  readonly next: readonly string[];
  /** Times that were skipped because the run before was still in progress. */
  readonly skipped: number;
  /** Times that were missed because Temporal was away for longer than `--catch-up`. */
  readonly missed: number;
  /** The oldest first, at most five. */
  readonly recent: readonly PastTime[];
  readonly warnings: readonly string[];
}

interface PastTime {
  readonly scheduled_at: string;
  readonly workflow_id: string;
  readonly status: string;
  readonly summary: string;
  readonly runs: readonly string[];
}

/** The table of `enrich schedule list`; `facts` are those of `schedules`, in the same order. */
export function describeList(schedules: readonly KnownSchedule[], facts: readonly ScheduleFacts[]): string {
  if (schedules.length === 0) return 'no schedules yet; enrich schedule set --help shows how to create one';
  const list = table([
    ['schedule', 'cron', 'time zone', 'export', 'next', 'last'],
    ...schedules.map(({ definition, description: { state, info } }, index) => [
      definition.name,
      definition.cron,
      definition.timezone,
      `${definition.work.export.kind} ${definition.work.export.from}`,
      state.paused ? 'paused' : shown(definition.timezone, info.nextActionTimes[0]),
      lastTime(definition.timezone, facts[index]),
    ]),
  ]);
  const notes = schedules.flatMap(({ definition, description: { state } }) =>
    state.paused && state.note ? [`  ${definition.name} is paused: ${state.note}`] : [],
  );
  const failures = facts.flatMap(({ name, recent }) => {
    const failed = recent.filter(({ status }) => status === 'failed').length;
    if (failed === 0) return [];
    const what = recent.at(-1)?.status === 'failed' ? `${name} failed at its last time` : name;
    const of = recent.length === 1 ? '' : `${failed} of its last ${recent.length} times failed`;
    return [`  ${[what, of].filter(Boolean).join(': ')}; why: enrich schedule show ${name}`];
  });
  const waiting = facts.flatMap(({ name, recent }) => {
    const last = recent.at(-1);
    return last?.status === 'waiting' ? [`  ${name} waits: ${last.summary}`] : [];
  });
  return [list, ...notes, ...failures, ...waiting].join('\n');
}

function lastTime(timezone: string, facts: ScheduleFacts | undefined): string {
  const last = facts?.recent.at(-1);
  return last === undefined ? '-' : `${shown(timezone, new Date(last.scheduled_at))} ${last.status}`;
}

/** The JSON output of a schedule: flags, next times, last times with their results, warnings. */
export async function factsOf(
  session: Session,
  { definition, description }: KnownSchedule,
): Promise<ScheduleFacts> {
  const { state, info } = description;
  const recent: PastTime[] = [];
  for (const { scheduledAt, action } of info.recentActions.slice(-timesShown))
    recent.push({
      scheduled_at: scheduledAt.toISOString(),
      ...(await pastTime(session, action.workflow)),
    });
  return {
    name: definition.name,
    paused: state.paused,
    note: state.note ?? null,
    flags: Object.fromEntries(fieldsOf(definition)),
    // Temporal computes times for a paused schedule too.
    next: (state.paused ? [] : info.nextActionTimes.slice(0, timesShown)).map((time) => time.toISOString()),
    skipped: info.numActionsSkippedOverlap,
    missed: info.numActionsMissedCatchupWindow,
    recent,
    warnings: [
      ...(cronMistake(definition.cron) === undefined
        ? skippedTimes(definition.cron, definition.timezone, new Date())
        : []),
      ...(await warningsOf(session, recent, info)),
    ],
  };
}

/** Formats a schedule for a person, with all times in the schedule's time zone. */
export function describeSchedule(facts: ScheduleFacts): string {
  const zone = facts.flags['timezone'] ?? 'UTC';
  const local = (text: string): string =>
    text.replace(utcTime, (time) => `${shown(zone, new Date(time))} (${zone})`);
  const times = (list: readonly string[]): string =>
    list.map((time) => shown(zone, new Date(time))).join(', ');
  return [
    // Temporal keeps the note of the last change: that of a schedule that is on says nothing about it.
    `${facts.name}: ${facts.paused ? `paused${facts.note ? ` (${local(facts.note)})` : ''}` : 'on'}`,
    labelled(Object.entries(facts.flags)),
    `  next: ${facts.next.length === 0 ? 'none' : `${times(facts.next)} (${zone})`}`,
    ...(facts.skipped > 0 ? [`  skipped, because the previous run had not ended: ${facts.skipped}`] : []),
    ...(facts.missed > 0 ? [`  missed, because Temporal was unavailable too long: ${facts.missed}`] : []),
    ...(facts.recent.length === 0 ? ['  it has begun no run yet'] : [`last times (${zone}):`]),
    ...facts.recent.flatMap((time) => [
      `  ${shown(zone, new Date(time.scheduled_at))}  ${time.status}: ${local(time.summary).replaceAll('\n', '\n  ')}`,
      ...time.runs.map((runId) => `    enrich status ${runId}`),
    ]),
    ...facts.warnings.map((warning) => `  note: ${warning}`),
  ].join('\n');
}

/** A time within a text, as JSON has it. */
const utcTime = /\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(?:\.\d+)?Z/g;

async function pastTime(
  session: Session,
  workflow: { readonly workflowId: string; readonly firstExecutionRunId: string },
): Promise<Omit<PastTime, 'scheduled_at'>> {
  const client = await session.temporal();
  const workflow_id = workflow.workflowId;
  const handle = client.workflow.getHandle(workflow_id, workflow.firstExecutionRunId);
  try {
    const { status, raw } = await handle.describe();
    const state = status.name.toLowerCase();
    if (status.name === 'RUNNING') {
      const runs = (raw.pendingChildren ?? []).flatMap((child) => child.workflowId ?? []);
      return { workflow_id, runs, ...(await statusOfOpenTime(session, workflow_id, runs)) };
    }
    if (status.name === 'COMPLETED') {
      const { summary, runs } = (await handle.result()) as ScheduledRunResult;
      return { workflow_id, status: state, summary, runs: runs.map(({ runId }) => runId) };
    }
    const why = await handle.result().then(String, (error: Error) => innermost(error).message);
    return { workflow_id, status: state, summary: why, runs: [] };
  } catch (error) {
    if (!isWorkflowGone(error)) throw error;
    return { workflow_id, status: 'gone', summary: 'Temporal no longer has its history', runs: [] };
  }
}

/**
 * Status of a scheduled time that has not ended. A paused run goes first, because it waits for a person and keeps the
 * next times from beginning.
 */
async function statusOfOpenTime(
  session: Session,
  workflowId: string,
  runIds: readonly string[],
): Promise<Pick<PastTime, 'status' | 'summary'>> {
  for (const runId of runIds) {
    const run = await runIfKnown(session.warehouse, runId);
    if (run?.status === 'paused' && run.pauseReason)
      return {
        status: 'paused',
        summary: `${run.fileName}: ${run.pauseReason.reason}; next: ${run.pauseReason.next}`,
      };
  }
  const needed = await neededByOpenTime(session, workflowId);
  if (needed !== undefined) return { status: 'waiting', summary: needed };
  const what = runIds.length > 0 ? 'enriching' : 'no run yet: it searches for an export';
  return { status: 'running', summary: what };
}

/** What a scheduled time needs before it can continue; undefined: a worker carries the time out. */
async function neededByOpenTime(session: Session, workflowId: string): Promise<string | undefined> {
  if (!(await hasWorker(session)))
    return session.stack.temporal.embedded
      ? 'no worker: it continues while enrich dev or enrich run is running with the same data folder'
      : 'no worker polls: start one with enrich worker';
  const failure = await readTaskFailure(await session.temporal(), workflowId);
  if (failure === undefined) return undefined;
  const { message, next } = workflowFailing(workflowId, failure);
  return `${message}; next: ${next}`;
}

/** Temporal's wrappers say only where an error happened; the innermost error says what happened. */
function innermost(error: Error): Error {
  return error.cause instanceof Error ? innermost(error.cause) : error;
}

async function warningsOf(
  { warehouse }: Session,
  recent: readonly PastTime[],
  { nextActionTimes }: ScheduleDescription['info'],
): Promise<string[]> {
  let seconds = 0;
  for (const runId of recent.at(-1)?.runs ?? [])
    seconds += (await runIfKnown(warehouse, runId))?.plan?.etaSeconds ?? 0;
  const warning = overrunWarning(seconds, nextActionTimes);
  return warning === undefined ? [] : [`the plan of the last time ${warning}`];
}

/** Undefined if the warehouse does not have the run, such as a new warehouse. */
async function runIfKnown(warehouse: Session['warehouse'], runId: string): Promise<RunRecord | undefined> {
  return getRun(warehouse, runId).catch((error: unknown) => {
    if (error instanceof Problem && error.type === 'run.unknown') return undefined;
    throw error;
  });
}

function shown(timezone: string, time: Date | undefined): string {
  return time === undefined ? '-' : clockIn(timezone, time);
}
