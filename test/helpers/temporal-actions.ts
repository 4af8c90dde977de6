import type { Client } from '@temporalio/client';

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
 * What Temporal would bill for a run and its pages: starts (a child's counts twice), activities, timers, signals, updates,
 * search attributes.
 */
export async function countActions(client: Client, runId: string): Promise<number> {
  let count = 0;
  for await (const { workflowId } of client.workflow.list({ query: `WorkflowId STARTS_WITH "${runId}"` })) {
    const history = await client.workflow.getHandle(workflowId).fetchHistory();
    for (const event of history.events ?? []) if (billable.some((name) => event[name])) count += 1;
  }
  return count;
}
