import { expect, it } from 'vitest';
import { keepPlacesTogether, type DecidedField } from '../../../src/domain/crm/field-policy.ts';

const city: DecidedField = { field: 'city', decision: 'filled', theirs: '', ours: 'Toronto' };
const state: DecidedField = { field: 'state', decision: 'filled', theirs: '', ours: 'Ontario' };

function decisionsOf(fields: readonly DecidedField[]): string[] {
  return keepPlacesTogether(fields).map(({ decision }) => decision);
}

it.each([
  ['kept', 'Norway', 'Canada'],
  ['refused: listed values', 'Norway', 'Canada'],
  ['nothing known', 'Norway', null],
] as const)('keepPlacesTogether() writes no city beside a country that is "%s"', (decision, theirs, ours) => {
  const decided = decisionsOf([city, state, { field: 'country', decision, theirs, ours }]);
  expect(decided).toEqual(['other place', 'other place', decision]);
});

it.each([
  ['ON', 'filled'],
  ['BC', 'other place'],
  ['Alberta', 'other place'],
] as const)('keepPlacesTogether() reads the state %s beside Ontario: the city is %s', (theirs, decision) => {
  expect(decisionsOf([city, { ...state, decision: 'kept', theirs }])).toEqual([decision, 'kept']);
});
