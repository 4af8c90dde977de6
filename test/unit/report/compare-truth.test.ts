import { expect, it } from 'vitest';
import { comparePeople, type ComparedPerson } from '../../../src/report/compare-truth.ts';

const person = (row: number, known: ComparedPerson['known'], found: ComparedPerson['found'] | null) => ({
  row,
  contactId: found && `contact-${row}`,
  known,
  found: found ?? {},
});

it('coverage is the share of known values that are filled, accuracy the share of these that are right', () => {
  const { people, enriched, fields } = comparePeople([
    person(1, { phone: '(202) 555-0143', title: 'Chef' }, { phone: '+12025550143', title: 'chef' }),
    person(
      2,
      { organization_domain: 'https://www.Acme.example/about' },
      { organization_domain: 'acme.example' },
    ),
    person(3, { phone: '+12025550199', title: '' }, { phone: '+12025550100', title: 'Cook' }),
    person(4, { phone: '+12025550111' }, null),
  ]);
  expect([people, enriched]).toEqual([4, 3]);
  expect(fields).toMatchObject([
    { field: 'phone', known: 3, filled: 2, correct: 1 },
    { field: 'title', known: 1, filled: 1, correct: 1 },
    { field: 'organization_domain', known: 1, filled: 1, correct: 1 },
  ]);
  const { coverage, accuracy } = fields[0]!;
  expect(coverage!.rate).toBeCloseTo(2 / 3);
  // Wilson's interval of 1 in 2.
  expect([accuracy!.low, accuracy!.high]).toEqual([expect.closeTo(0.0945, 3), expect.closeTo(0.9055, 3)]);
});
