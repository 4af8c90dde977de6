import { waitsForBudget, type StatusReason } from './pause-reasons.ts';

/** States of an unfinished run: its status, or `waiting_for_budget` if it is paused and continues by itself. */
type RunState = Exclude<RunStatus, 'planned' | 'finished' | 'cancelled' | 'failed'> | 'waiting_for_budget';

/** Events that can change the status of a run. */
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
 * The states that allow an event, and the statuses it can lead to. Otherwise a run keeps its status: its workflow may
 * not know that a command has paused or cancelled it. A run that has ended allows no event.
 */
export const runTransitions: Readonly<
  Record<RunEvent, { readonly from: readonly RunState[]; readonly to: readonly RunStatus[] }>
> = {
  // A run that has its plan is not read again when its workflow starts again.
  read: { from: beforePlan, to: ['ingesting', 'planning'] },
  continue: { from: active, to: ['running', 'awaiting_approval'] },
  wait_for_budget: { from: active, to: ['paused'] },
  pause_by_call: { from: ['running', 'waiting_for_budget'], to: ['paused'] },
  // A paused run keeps its first reason, which names the next step, such as to correct a refused credential.
  pause_by_operator: { from: active, to: ['paused'] },
  pause: { from: [...active, 'paused'], to: ['paused'] },
  resume: { from: [...active, 'paused'], to: ['ingesting', 'planning', 'awaiting_approval', 'running'] },
  cancel: { from: unfinished, to: ['cancelling'] },
  end: { from: unfinished, to: ['planned', 'finished', 'cancelled', 'failed'] },
};

/** Finds the event that gives a run this status. @param byOperator true if the operator resumes the run */
export function eventForStatus(
  status: RunStatus,
  reason: StatusReason | undefined,
  byOperator: boolean,
): RunEvent {
  if (isFinal(status)) return 'end';
  if (status === 'cancelling') return 'cancel';
  if (byOperator) return 'resume';
  if (status === 'ingesting' || status === 'planning') return 'read';
  if (status !== 'paused') return 'continue';
  if (waitsForBudget(reason)) return 'wait_for_budget';
  return reason?.type === 'run.paused' ? 'pause_by_operator' : 'pause';
}

/**
 * Statuses in `enrichment.runs`, by kind. A run in progress continues by itself. A waiting run needs the operator,
 * unless it waits for a budget. A final status stays. The last four statuses are part of the public surface.
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

/** True if a run with this status makes calls, or will make them without a decision of the operator. */
export function isInProgress(status: RunStatus): boolean {
  return runStatuses[status] === 'in-progress';
}

/** True if a run with this status has ended for good. */
export function isFinal(status: RunStatus): boolean {
  return runStatuses[status] === 'final';
}

/** Formats a status for the operator, such as `awaiting approval`. */
export function statusText(status: RunStatus): string {
  return status.replaceAll('_', ' ');
}
