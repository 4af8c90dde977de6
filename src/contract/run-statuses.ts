/**
 * Statuses of a run in `enrichment.runs`. A run in progress continues without a person, a waiting run only with one,
 * unless it waits for a budget. A run keeps a final status. The last four are part of the public surface.
 */
export const runStatuses = {
  ingesting: 'in-progress',
  planning: 'in-progress',
  awaiting_approval: 'waiting',
  running: 'in-progress',
  cancelling: 'ending',
  planned: 'final',
  paused: 'waiting',
  finished: 'final',
  cancelled: 'final',
  failed: 'final',
} as const;

export type RunStatus = keyof typeof runStatuses;

/** Whether a run with this status makes calls, or will make them, without another decision of a person. */
export function isInProgress(status: RunStatus): boolean {
  return runStatuses[status] === 'in-progress';
}

/** Whether a run with this status has ended for good. */
export function isFinal(status: RunStatus): boolean {
  return runStatuses[status] === 'final';
}

/** `awaiting approval` for a person. */
export function statusText(status: RunStatus): string {
  return status.replaceAll('_', ' ');
}
