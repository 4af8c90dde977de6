import {
  ScheduleAlreadyRunning,
  ScheduleNotFoundError,
  ScheduleOverlapPolicy,
  ServiceError,
  type Client,
  type ScheduleDescription,
  type ScheduleOptions,
} from '@temporalio/client';
import type { ScheduledRunInput } from '../../contract/run-input.ts';
import { controlTaskQueue, workflowTypes } from '../../contract/temporal-names.ts';
import { Problem, UsageProblem } from '../../domain/problem.ts';
import { maxSummaryLength, markdownTable } from '../../contract/workflow-details.ts';
import { registerSearchAttributes } from '../../temporal/connection.ts';
import { flagsOfSchedule, type ScheduleDefinition } from './schedule-definition.ts';

/** A schedule, and Temporal's description of its state and times. */
export interface StoredSchedule {
  readonly definition: ScheduleDefinition;
  readonly description: ScheduleDescription;
}

/** Creates or replaces a schedule. A paused schedule stays paused. @returns true if the schedule is new */
export async function putSchedule(client: Client, definition: ScheduleDefinition): Promise<boolean> {
  const options = optionsOf(definition, await registerSearchAttributes(client));
  try {
    await client.schedule.create(options);
    return true;
  } catch (error) {
    if (!(error instanceof ScheduleAlreadyRunning)) throw refused(definition.name, error);
  }
  await getSchedule(client, definition.name);
  await client.schedule
    .getHandle(definition.name)
    .update(({ state }) => ({ ...options, state: { ...state } }))
    .catch((error: unknown) => {
      throw refused(definition.name, error);
    });
  return false;
}

/** Reads a schedule. @throws UsageProblem `schedule.unknown`, or `schedule.foreign` for one of another program */
export async function getSchedule(client: Client, name: string): Promise<StoredSchedule> {
  const handle = client.schedule.getHandle(name);
  const description = await handle.describe().catch((error: unknown) => {
    if (!(error instanceof ScheduleNotFoundError)) throw refused(name, error);
    const next = 'enrich schedule show shows all of them';
    throw new UsageProblem('schedule.unknown', `there is no schedule "${name}"`, { where: name, next });
  });
  if (description.action.workflowType === workflowTypes.scheduled)
    return { definition: definitionOf(description), description };
  throw new UsageProblem('schedule.foreign', `"${name}" is a schedule of another program`, {
    where: name,
    next: 'choose another name; enrich schedule show shows the schedules of enrich',
  });
}

/** Lists all schedules that enrich exports, by name. Temporal's list can lack changes of the last second. */
export async function listSchedules(client: Client): Promise<StoredSchedule[]> {
  const schedules: StoredSchedule[] = [];
  for await (const { scheduleId, action } of client.schedule.list()) {
    if (action?.workflowType !== workflowTypes.scheduled) continue;
    // Temporal's list can still contain a schedule that was deleted a moment ago.
    const known = await getSchedule(client, scheduleId).catch((error: Problem) => {
      if (error.type !== 'schedule.unknown') throw error;
    });
    if (known) schedules.push(known);
  }
  return schedules.sort((one, other) => (one.definition.name < other.definition.name ? -1 : 1));
}

/** Starts a run now. Temporal's default for triggers would ignore the schedule's overlap policy. */
export async function triggerSchedule(client: Client, definition: ScheduleDefinition): Promise<void> {
  await client.schedule.getHandle(definition.name).trigger(policyOf(definition));
}

/** Deletes a schedule, and cancels its scheduled times that have not begun a run. @returns runs still in progress */
export async function deleteSchedule(
  client: Client,
  { definition, description }: StoredSchedule,
): Promise<string[]> {
  await client.schedule.getHandle(definition.name).delete();
  const continuing: string[] = [];
  for (const { workflow } of description.info.runningActions) {
    const handle = client.workflow.getHandle(workflow.workflowId);
    const { status, raw } = await handle.describe();
    const runs = childWorkflowIds(raw);
    if (status.name === 'RUNNING' && runs.length === 0) await handle.cancel();
    continuing.push(...runs);
  }
  return continuing;
}

/** Ids of the child workflows that are running, from a description by Temporal. */
export function childWorkflowIds(raw: {
  readonly pendingChildren?: readonly { readonly workflowId?: string | null }[] | null;
}): string[] {
  return (raw.pendingChildren ?? []).flatMap((child) => child.workflowId ?? []);
}

/** What Temporal does at a time while a run is in progress. */
function policyOf({ overlap }: ScheduleDefinition): ScheduleOverlapPolicy {
  return overlap === 'skip' ? ScheduleOverlapPolicy.SKIP : ScheduleOverlapPolicy.BUFFER_ONE;
}

/** Makes what Temporal stores. @param searchable false if the namespace lacks the search attributes */
function optionsOf(definition: ScheduleDefinition, searchable: boolean): ScheduleOptions {
  const { name, cron, timezone, work } = definition;
  const input: ScheduledRunInput = { schedule: name, timezone, ...work, searchable };
  return {
    scheduleId: name,
    spec: {
      // Temporal stores a cron line as calendar fields. Its comment after # keeps the original line.
      cronExpressions: [`${cron} #${cron}`],
      timezone,
    },
    policies: {
      overlap: policyOf(definition),
      catchupWindow: definition.catchUpSeconds * 1_000,
      pauseOnFailure: definition.pauseOnFailure,
    },
    action: {
      type: 'startWorkflow',
      workflowType: workflowTypes.scheduled,
      workflowId: name,
      taskQueue: controlTaskQueue,
      args: [input],
      staticSummary: `schedule ${name}: ${work.export.kind} ${work.export.from}`.slice(0, maxSummaryLength),
      staticDetails: markdownTable(
        Object.entries({ schedule: name, ...flagsOfSchedule(definition) }).map(([flag, value]) => [
          flag,
          value.slice(0, maxSummaryLength),
        ]),
      ),
      ...(searchable && {
        typedSearchAttributes: [{ key: { name: 'EnrichmentSchedule', type: 'KEYWORD' }, value: name }],
      }),
    },
  };
}

/** Reads a schedule's times and policies from Temporal, because the operator may have changed them there. */
function definitionOf({ scheduleId, spec, policies, action }: ScheduleDescription): ScheduleDefinition {
  const [input] = action.args as [ScheduledRunInput];
  const { schedule: _name, timezone: _timezone, searchable: _searchable, ...work } = input;
  return {
    name: scheduleId,
    cron: spec.calendars?.[0]?.comment || 'changed in Temporal',
    timezone: spec.timezone || 'UTC',
    overlap: policies.overlap === ScheduleOverlapPolicy.BUFFER_ONE ? 'buffer-one' : 'skip',
    catchUpSeconds: policies.catchupWindow / 1_000,
    pauseOnFailure: policies.pauseOnFailure,
    work,
  };
}

/** Explains a refusal. Messages of Temporal's SDK ("Failed to describe schedule") have neither name nor cause. */
function refused(name: string, error: unknown): unknown {
  // The SDK checks cron lines itself and throws TypeError, such as "Minute is not in range [0-59]".
  if (error instanceof TypeError)
    return new UsageProblem('schedule.invalid', `the cron line is wrong: ${error.message}`, {
      where: '--cron',
      next: 'write it as in "0 2 * * *" (every night at two), or @daily',
    });
  // Errors other than a ServiceError, such as an unknown namespace, already say what is wrong.
  if (!(error instanceof ServiceError)) return error;
  const { details, message } = (error.cause ?? error) as { details?: string; message: string };
  return new Problem('schedule.refused', `Temporal reports: ${details || message}`, {
    where: name,
    next: 'correct what the message names; enrich doctor checks that Temporal answers',
    cause: error,
  });
}
