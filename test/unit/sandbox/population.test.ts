import { expect, it } from 'vitest';
import { Population } from '../../../src/sandbox/population/population.ts';

const population = new Population({ seed: 1, people: 100, matchRate: 1, ambiguousRate: 0 });

it.each([
  [{ last_name: 'Novak' }, { lastName: 'Novak' }],
  [{ first_name: ' Mira ' }, { firstName: 'Mira' }],
  [
    { last_name: 'Berg', email: 'mira.novak@orbit.example' },
    { firstName: 'Mira', lastName: 'Berg' },
  ],
  [
    { first_name: 'Mira', last_name: 'Novak' },
    { firstName: 'Mira', lastName: 'Novak' },
  ],
])('a person who is asked for by %j and an address has this part of the name', (asked, names) => {
  expect(population.find({ email: 'mn7@orbit.example', organization_name: 'Orbit', ...asked })).toMatchObject(
    names,
  );
});
