import { expect, it } from 'vitest';
import {
  type AnswerToRecord,
  priceOfAnswer,
  type AnswerPrice,
} from '../../../src/calls/answers/store-answer.ts';
import type { Person } from '../../../src/domain/identity/person.ts';
import { creditsFromWhole } from '../../../src/domain/money/decimal.ts';
import { answerWith } from '../../helpers/warehouse/answers.ts';

const person: Person = { id: 'p-1', first_name: 'Ada', last_name: 'Novak' };
const company: Person = { organization: { name: 'Orbit' } };
const silent = answerWith([], { creditsConsumed: undefined, creditsProblem: 'absent' });

function priceOf(answer: Partial<AnswerToRecord>, waterfall: readonly string[] = []): AnswerPrice {
  return priceOfAnswer({ ...silent, ...answer }, { reveal: [], waterfall }, 10);
}

it('priceOfAnswer() returns the credits that the answer states', () => {
  expect(priceOf({ creditsConsumed: creditsFromWhole(7), creditsProblem: undefined })).toMatchObject({
    consumed: creditsFromWhole(7),
    isCredible: true,
  });
});

it('priceOfAnswer() ignores a stated price that is too high for ten people', () => {
  const absurd = { creditsConsumed: creditsFromWhole(9_000_000_000), creditsProblem: undefined };
  expect(priceOf(absurd)).toEqual({ consumed: undefined, isCredible: false, found: 0 });
});

it('priceOfAnswer() without a stated price is 0 only if a call with a waterfall found no person', () => {
  expect(priceOf({}, ['email']).consumed).toBe(0n);
  expect(priceOf({}).consumed).toBeUndefined();
  expect(priceOf({ matches: [person] }, ['email']).consumed).toBeUndefined();
});

it.each([
  ['people in its list, without entries that have only a company', { matches: [person, company, null] }, 1],
  [
    'the stated number, if stated found and missing people add up to the ten people of the call',
    { matches: [person], uniqueEnrichedRecords: 4, missingRecords: 6 },
    4,
  ],
  ['a person with only an id', { matches: [{ id: 'p-1' }] }, 1],
  [
    'nobody for an entry with only an id and a company, if all ten people are stated as missing',
    { matches: [{ id: 'p-1', ...company }], uniqueEnrichedRecords: 0, missingRecords: 10 },
    0,
  ],
  [
    'one person per stated credit, if its list is empty',
    { creditsConsumed: creditsFromWhole(3), creditsProblem: undefined },
    3,
  ],
  [
    'nobody, if the stated number is higher than the ten people of the call',
    { uniqueEnrichedRecords: 11 },
    0,
  ],
])('priceOfAnswer() counts as found in an answer: %s', (_, answer, found) => {
  expect(priceOf(answer).found).toBe(found);
});
