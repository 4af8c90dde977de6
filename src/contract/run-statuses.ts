/**
 * Statuses of a run in `enrichment.runs`. A run keeps a final status. The last four are part of the public surface.
 */
export const runStatuses = {
  ingesting: 'unfinished',
  planning: 'unfinished',
  awaiting_approval: 'unfinished',
  running: 'unfinished',
  cancelling: 'unfinished',
  planned: 'final',
  paused: 'unfinished',
  finished: 'final',
  cancelled: 'final',
  failed: 'final',
} as const;

export type RunStatus = keyof typeof runStatuses;
