import { randomUUID } from 'node:crypto';
import type { Client, WorkflowHandle } from '@temporalio/client';
import proto, { type temporal } from '@temporalio/proto';

const { ResetReapplyExcludeType } = proto.temporal.api.enums.v1;

const billable = [
  'workflowExecutionStartedEventAttributes',
  'activityTaskScheduledEventAttributes',
  'timerStartedEventAttributes',
  'workflowExecutionSignaledEventAttributes',
  'workflowExecutionUpdateAcceptedEventAttributes',
  'upsertWorkflowSearchAttributesEventAttributes',
  'startChildWorkflowExecutionInitiatedEventAttributes',
] as const;

/**
 * Counts the actions that Temporal would bill for a run and its pages: starts (twice for a child), activities, timers,
 * signals, updates, search attributes.
 */
export async function countActions(client: Client, runId: string): Promise<number> {
  let count = 0;
  for await (const { workflowId } of client.workflow.list({ query: `WorkflowId STARTS_WITH "${runId}"` })) {
    const history = await client.workflow.getHandle(workflowId).fetchHistory();
    for (const event of history.events ?? []) if (billable.some((name) => event[name])) count += 1;
  }
  return count;
}

/** Returns when each batch of a run was first scheduled, in milliseconds since 1970, by the number of the batch. */
export async function batchesReadyAt(client: Client, runId: string): Promise<Map<number, number>> {
  const ready = new Map<number, number>();
  for await (const { workflowId } of client.workflow.list({ query: `WorkflowId STARTS_WITH "${runId}/"` })) {
    const history = await client.workflow.getHandle(workflowId).fetchHistory();
    for (const event of history.events ?? []) {
      const scheduled = event.activityTaskScheduledEventAttributes;
      const [input] = scheduled?.input?.payloads ?? [];
      if (scheduled?.activityType?.name !== 'enrichBatches' || !input?.data) continue;
      const { batches } = JSON.parse(Buffer.from(input.data).toString()) as { batches: number[] };
      const at = Number(event.eventTime?.seconds) * 1_000 + Number(event.eventTime?.nanos) / 1_000_000;
      for (const batch of batches) if (!ready.has(batch)) ready.set(batch, at);
    }
  }
  return ready;
}

/** Resets a workflow to its beginning, as an operator does in the Temporal UI. @returns the new execution */
export function resetToBeginning(client: Client, workflowId: string): Promise<WorkflowHandle> {
  return reset(client, workflowId, (completed) => completed[0]!);
}

/**
 * Resets a workflow to the moment before it accepted its first update of this name.
 *
 * @param sendsAgain whether Temporal sends the updates after this moment again
 * @returns the new execution
 */
export function resetBeforeUpdate(
  client: Client,
  workflowId: string,
  name: string,
  sendsAgain = true,
): Promise<WorkflowHandle> {
  const choose: Choice = (completed, events) => {
    const accepted = events.findIndex(
      (event) => event.workflowExecutionUpdateAcceptedEventAttributes?.acceptedRequest?.input?.name === name,
    );
    return completed.findLast((event) => events.indexOf(event) < accepted)!;
  };
  return reset(
    client,
    workflowId,
    choose,
    sendsAgain ? [] : [ResetReapplyExcludeType.RESET_REAPPLY_EXCLUDE_TYPE_UPDATE],
  );
}

type Events = NonNullable<Awaited<ReturnType<WorkflowHandle['fetchHistory']>>['events']>;
type Choice = (completed: Events, events: Events) => Events[number];

async function reset(
  client: Client,
  workflowId: string,
  choose: Choice,
  resetReapplyExcludeTypes: temporal.api.enums.v1.ResetReapplyExcludeType[] = [],
): Promise<WorkflowHandle> {
  const { events = [] } = await client.workflow.getHandle(workflowId).fetchHistory();
  const completed = events!.filter((event) => event.workflowTaskCompletedEventAttributes);
  const { runId } = await client.connection.workflowService.resetWorkflowExecution({
    namespace: client.options.namespace,
    workflowExecution: { workflowId },
    reason: 'by a test',
    workflowTaskFinishEventId: choose(completed, events!).eventId!,
    requestId: randomUUID(),
    resetReapplyExcludeTypes,
  });
  return client.workflow.getHandle(workflowId, runId);
}
