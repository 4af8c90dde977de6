import { expect, it } from 'vitest';
import type { StatusReason } from '../../../src/contract/pause-reasons.ts';
import {
  runStatuses,
  type RunStatus,
  eventForStatus,
  runTransitions,
} from '../../../src/contract/run-transitions.ts';
import { stateOf } from '../../helpers/temporal/scripted-activities.ts';

const why = (type: string): StatusReason => ({ type, reason: 'a reason', next: 'a next step' });

/** True if a run with the first status and reason may change to the second status and reason. */
function isGiven(
  [was, wasReason]: readonly [RunStatus, string?],
  [wanted, reason]: readonly [RunStatus, string?],
  byOperator = false,
): boolean {
  const state = stateOf(was, wasReason === undefined ? undefined : why(wasReason));
  const { from } =
    runTransitions[eventForStatus(wanted, reason === undefined ? undefined : why(reason), byOperator)];
  return from.some((each) => each === state);
}

it.each<readonly [string, readonly [RunStatus, string?], readonly [RunStatus, string?], boolean]>([
  ['a running run does not go back to reading its export', ['running'], ['ingesting'], false],
  [
    'a run that the operator has paused does not continue by itself',
    ['paused', 'run.paused'],
    ['running'],
    false,
  ],
  [
    'a run that an overbilled call has paused does not continue by itself',
    ['paused', 'service.overbilled'],
    ['running'],
    false,
  ],
  ['a run that waits for a budget can continue by itself', ['paused', 'budget.empty'], ['running'], true],
  [
    'a paused run keeps its reason when it is paused again',
    ['paused', 'service.x'],
    ['paused', 'run.paused'],
    false,
  ],
  [
    'a run that the operator has paused does not change to waiting for a budget',
    ['paused', 'run.paused'],
    ['paused', 'budget.empty'],
    false,
  ],
  [
    'a quality gate can also pause a run that the operator has paused',
    ['paused', 'run.paused'],
    ['paused', 'pilot.below'],
    true,
  ],
  ['a run that is being cancelled does not continue', ['cancelling'], ['running'], false],
  ['a run that is being cancelled can end as cancelled', ['cancelling'], ['cancelled'], true],
  ['a paused run can be cancelled', ['paused', 'run.paused'], ['cancelling'], true],
  ['a finished run cannot be cancelled', ['finished'], ['cancelling'], false],
])('%s', (_, was, wanted, isAllowed) => {
  expect(isGiven(was, wanted)).toBe(isAllowed);
});

it.each(Object.keys(runStatuses) as RunStatus[])(
  'the transition for the status %s leads to this status',
  (status) => {
    expect(runTransitions[eventForStatus(status, undefined, false)].to).toContain(status);
  },
);

it('a resume by the operator continues every paused run, but not a run that is being cancelled', () => {
  expect(isGiven(['paused', 'run.paused'], ['running'], true)).toBe(true);
  expect(isGiven(['paused', 'pilot.below'], ['running'], true)).toBe(true);
  expect(isGiven(['cancelling'], ['running'], true)).toBe(false);
});
