import { expect, it } from 'vitest';
import type { StatusReason } from '../../../src/contract/pause-reasons.ts';
import { runStatuses, type RunStatus, eventOf, transitions } from '../../../src/contract/run-transitions.ts';
import { stateOf } from '../../helpers/temporal/scripted-activities.ts';

const why = (type: string): StatusReason => ({ type, reason: 'a reason', next: 'a next step' });

/** Whether a run with a status and a reason gets another status. */
function isGiven(
  [was, wasReason]: readonly [RunStatus, string?],
  [wanted, reason]: readonly [RunStatus, string?],
  byPerson = false,
): boolean {
  const state = stateOf(was, wasReason === undefined ? undefined : why(wasReason));
  const { from } = transitions[eventOf(wanted, reason === undefined ? undefined : why(reason), byPerson)];
  return from.some((each) => each === state);
}

it.each<readonly [string, readonly [RunStatus, string?], readonly [RunStatus, string?], boolean]>([
  ['a planned run does not read its export again', ['running'], ['ingesting'], false],
  ['a run that the operator has paused does not continue', ['paused', 'run.paused'], ['running'], false],
  ['a run that a call has paused does not continue', ['paused', 'service.overbilled'], ['running'], false],
  ['a run that waits for a budget continues', ['paused', 'budget.empty'], ['running'], true],
  [
    'a paused run keeps its reason when it is paused again',
    ['paused', 'service.x'],
    ['paused', 'run.paused'],
    false,
  ],
  ['a paused run waits for no budget', ['paused', 'run.paused'], ['paused', 'budget.empty'], false],
  ['a quality gate pauses a paused run', ['paused', 'run.paused'], ['paused', 'pilot.below'], true],
  ['a cancelled run does not continue', ['cancelling'], ['running'], false],
  ['a cancelled run ends', ['cancelling'], ['cancelled'], true],
  ['a paused run is cancelled', ['paused', 'run.paused'], ['cancelling'], true],
  ['a finished run is not cancelled', ['finished'], ['cancelling'], false],
])('%s', (_, was, wanted, isAllowed) => {
  expect(isGiven(was, wanted)).toBe(isAllowed);
});

it.each(Object.keys(runStatuses) as RunStatus[])('the event that makes a run %s leads there', (status) => {
  expect(transitions[eventOf(status, undefined, false)].to).toContain(status);
});

it('a resume continues every paused run, but not a cancelled one', () => {
  expect(isGiven(['paused', 'run.paused'], ['running'], true)).toBe(true);
  expect(isGiven(['paused', 'pilot.below'], ['running'], true)).toBe(true);
  expect(isGiven(['cancelling'], ['running'], true)).toBe(false);
});
