import fc from 'fast-check';
import { expect, it } from 'vitest';
import { matchKeysOfIdentity, matchKeysOfPerson } from '../../src/domain/identity/match-keys.ts';
import { compareNames, compareReady } from '../../src/domain/identity/names/name-agreement.ts';

// Few words, so that names often agree: initials, double-barrelled names, scripts without initials.
const word = fc.constantFrom('ada', 'anna', 'novak', 'a', 'n', '田中', 'jean-luc');
const words = fc.array(word, { minLength: 1, maxLength: 3 }).map((list) => list.join(' '));
const name = fc.record({ first: words, last: fc.option(words, { nil: undefined }) });

it('a row shares a match key with every person whose name agrees with its name', () => {
  let agreed = 0;
  fc.assert(
    fc.property(name, name, (row, person) => {
      const verdict = compareNames(
        compareReady(row.first, row.last, undefined),
        compareReady(person.first, person.last, undefined),
      );
      if (verdict !== 'agree') return;
      agreed += 1;
      const keys = matchKeysOfIdentity({ firstName: row.first, ...(row.last && { lastName: row.last }) });
      const keysOfPerson = matchKeysOfPerson({
        first_name: person.first,
        ...(person.last && { last_name: person.last }),
      });
      expect(keys.filter((key) => keysOfPerson.includes(key))).not.toEqual([]);
    }),
    { numRuns: Number(process.env['MATCH_KEY_CASES'] ?? 5_000) },
  );
  expect(agreed).toBeGreaterThan(50);
});

it('a row shares no match key with a person who has its first name and only the initial of its last name', () => {
  const keys = matchKeysOfIdentity({ firstName: 'Anna', lastName: 'Novak' });
  const others = matchKeysOfPerson({ first_name: 'Anna', last_name: 'Nilsen' });
  expect(keys.filter((key) => others.includes(key))).toEqual([]);
});
