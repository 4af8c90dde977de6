import type { Client, WorkflowHandle } from '@temporalio/client';
import { isWorkflowGone } from './connection.ts';

/** Number of failed attempts that show a failing workflow task. Fewer can come from a worker that restarts. */
const leastAttempts = 3;
/** Number of newest events to read. Events such as signals can follow the failure of a workflow task. */
const newestEvents = 10;

/** Returns why tasks of a workflow or its children fail; empty if the message is encrypted, undefined if none fails. */
export async function readTaskFailure(client: Client, workflowId: string): Promise<string | undefined> {
  const { workflowService, options } = client;
  const execution = { namespace: options.namespace, execution: { workflowId } };
  const { pendingWorkflowTask, pendingChildren } = await workflowService.describeWorkflowExecution(execution);
  for (const { workflowId: child } of pendingChildren ?? []) {
    const ofChild = child ? await readTaskFailure(client, child) : undefined;
    if (ofChild !== undefined) return ofChild;
  }
  if ((pendingWorkflowTask?.attempt ?? 0) < leastAttempts) return undefined;
  const { history } = await workflowService.getWorkflowExecutionHistoryReverse({
    ...execution,
    maximumPageSize: newestEvents,
  });
  const newest = history?.events?.find(
    (event) => event.workflowTaskFailedEventAttributes ?? event.workflowTaskCompletedEventAttributes,
  );
  const failed = newest?.workflowTaskFailedEventAttributes;
  if (!failed) return undefined;
  const { message, encodedAttributes } = failed.failure ?? {};
  return encodedAttributes ? '' : (message ?? '');
}

/** Statuses of open workflows. A workflow that was paused in Temporal has the status PAUSED. */
const openStatuses = ['RUNNING', 'PAUSED', 'CONTINUED_AS_NEW'];

/** Returns why a workflow has ended. Undefined if it is open. */
export async function readWorkflowEnd(handle: WorkflowHandle): Promise<string | undefined> {
  try {
    const { status } = await handle.describe();
    if (openStatuses.includes(status.name)) return undefined;
    return `the workflow ended before the run did: ${status.name.toLowerCase().replace('_', ' ')}`;
  } catch (error) {
    if (!isWorkflowGone(error)) throw error;
    return 'Temporal has no workflow of the run: it was deleted, or its retention has passed';
  }
}
