import { expect, it } from 'vitest';
import {
  type AnswerToRecord,
  priceOfAnswer,
  type AnswerPrice,
} from '../../../src/calls/answers/store-answer.ts';
import type { Person } from '../../../src/domain/identity/person.ts';
import { wholeCredits } from '../../../src/domain/money/decimal.ts';
import { answerWith } from '../../helpers/warehouse/answers.ts';

const person: Person = { id: 'p-1', first_name: 'Ada', last_name: 'Novak' };
const company: Person = { organization: { name: 'Orbit' } };
const silent = answerWith([], { creditsConsumed: undefined, creditsProblem: 'absent' });

function priceOf(answer: Partial<AnswerToRecord>, waterfall: readonly string[] = []): AnswerPrice {
  return priceOfAnswer({ ...silent, ...answer }, { reveal: [], waterfall }, 10);
}

it('answerPrice() reads the price of an answer', () => {
  expect(priceOf({ creditsConsumed: wholeCredits(7), creditsProblem: undefined })).toMatchObject({
    consumed: wholeCredits(7),
    isCredible: true,
  });
});

it('a price that is too high for ten people counts as not stated', () => {
  const absurd = { creditsConsumed: wholeCredits(9_000_000_000), creditsProblem: undefined };
  expect(priceOf(absurd)).toEqual({ consumed: undefined, isCredible: false, found: 0 });
});

it('an answer without a price costs nothing only if a waterfall found no person', () => {
  expect(priceOf({}, ['email']).consumed).toBe(0n);
  expect(priceOf({}).consumed).toBeUndefined();
  expect(priceOf({ matches: [person] }, ['email']).consumed).toBeUndefined();
});

it.each([
  ['the people that it lists, without companies', { matches: [person, company, null] }, 1],
  [
    'its own count if it counts everybody',
    { matches: [person], uniqueEnrichedRecords: 4, missingRecords: 6 },
    4,
  ],
  ['a person of whom it has only an id', { matches: [{ id: 'p-1' }] }, 1],
  [
    'no person of whom it has only an id if it counts everybody as missing',
    { matches: [{ id: 'p-1', ...company }], uniqueEnrichedRecords: 0, missingRecords: 10 },
    0,
  ],
  ['the people that it bills', { creditsConsumed: wholeCredits(3), creditsProblem: undefined }, 3],
  ['no count above the people who were asked for', { uniqueEnrichedRecords: 11 }, 0],
])('an answer found %s', (_, answer, found) => {
  expect(priceOf(answer).found).toBe(found);
});
