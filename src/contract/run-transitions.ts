import { waitsForBudget, type StatusReason } from './pause-reasons.ts';

/** Where a run is. A paused run that waits for a budget continues without the operator. */
type RunState = Exclude<RunStatus, 'planned' | 'finished' | 'cancelled' | 'failed'> | 'waiting_for_budget';

/** What happens to a run. */
export type RunEvent =
  | 'read'
  | 'continue'
  | 'wait_for_budget'
  | 'pause_by_call'
  | 'pause_by_operator'
  | 'pause'
  | 'resume'
  | 'cancel'
  | 'end';

const beforePlan = ['ingesting', 'planning'] as const satisfies readonly RunState[];
const active = [...beforePlan, 'awaiting_approval', 'running', 'waiting_for_budget'] as const;
const unfinished = [...active, 'paused', 'cancelling'] as const;

/**
 * The states that allow an event. In any other state, a run keeps its status and reason, because the workflow may not
 * know of a pause or cancellation by a command. A run that has ended allows no event.
 */
export const transitions: Readonly<
  Record<RunEvent, { readonly from: readonly RunState[]; readonly to: readonly RunStatus[] }>
> = {
  // A planned run does not plan again when its workflow begins again.
  read: { from: beforePlan, to: ['ingesting', 'planning'] },
  continue: { from: active, to: ['running', 'awaiting_approval'] },
  wait_for_budget: { from: active, to: ['paused'] },
  pause_by_call: { from: ['running', 'waiting_for_budget'], to: ['paused'] },
  // The first reason stays: it has the next step, such as for a refused credential.
  pause_by_operator: { from: active, to: ['paused'] },
  pause: { from: [...active, 'paused'], to: ['paused'] },
  resume: { from: [...active, 'paused'], to: ['ingesting', 'planning', 'awaiting_approval', 'running'] },
  cancel: { from: unfinished, to: ['cancelling'] },
  end: { from: unfinished, to: ['planned', 'finished', 'cancelled', 'failed'] },
};

/** The event that gives a run a status. @param byPerson the operator resumes the run */
export function eventOf(status: RunStatus, reason: StatusReason | undefined, byPerson: boolean): RunEvent {
  if (isFinal(status)) return 'end';
  if (status === 'cancelling') return 'cancel';
  if (byPerson) return 'resume';
  if (status === 'ingesting' || status === 'planning') return 'read';
  if (status !== 'paused') return 'continue';
  if (waitsForBudget(reason)) return 'wait_for_budget';
  return reason?.type === 'run.paused' ? 'pause_by_operator' : 'pause';
}

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
