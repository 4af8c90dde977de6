import fc from 'fast-check';
import { expect, it } from 'vitest';
import { isPossibleFit } from '../../src/domain/identity/decide-person.ts';
import {
  toComparedIdentity,
  toComparedPerson,
  weighFit,
} from '../../src/domain/identity/identity-evidence.ts';
import type { Identity } from '../../src/domain/identity/identity.ts';
import { matchKeysOfIdentity, matchKeysOfPerson } from '../../src/domain/identity/match-keys.ts';
import type { Person } from '../../src/domain/identity/person.ts';

// Few words, so that names often agree: initials, double-barrelled names, scripts without initials.
const word = fc.constantFrom('ada', 'anna', 'novak', 'a', 'n', '田中', 'jean-luc');
const words = fc.array(word, { minLength: 1, maxLength: 3 }).map((list) => list.join(' '));
// The first name "ada" is frequent, because some e-mails contain it.
const first = fc.oneof(fc.constant('ada'), words);
const last = fc.oneof(fc.constant('novak'), words);
const employer = fc.constantFrom('Acme Robotics', 'Acme-Robotics', 'Orbit');
const domain = fc.constantFrom('acme-robotics.example', 'orbit.example', 'orbit.test');
const email = fc
  .tuple(fc.constantFrom('ada.novak', 'novaka', 'anovak', 'annaada', 'info'), domain)
  .map((parts) => parts.join('@'));
const row = fc.record(
  {
    firstName: words,
    lastName: words,
    organizationName: employer,
    domain,
    email,
    personId: fc.constant('p1'),
  },
  { requiredKeys: [] },
);
const person = fc.record(
  {
    id: fc.constantFrom('p1', 'p2'),
    first_name: first,
    last_name: last,
    email,
    organization: fc.record({ name: employer, primary_domain: domain }, { requiredKeys: [] }),
    employment_history: fc.array(fc.record({ organization_name: employer }), { maxLength: 2 }),
  },
  { requiredKeys: [] },
);

function shareKey(identity: Identity, other: Person): boolean {
  const keys = matchKeysOfPerson(other);
  return matchKeysOfIdentity(identity).some((key) => keys.includes(key));
}

const chosen = process.env['MATCH_KEY_CASES'];

it('a row has a match key in common with every person who fits it, or the same name and employer', () => {
  const found = new Set<string>();
  fc.assert(
    fc.property(row, person, (identity, other) => {
      const fit = weighFit(toComparedIdentity(identity), toComparedPerson(other));
      if (!isPossibleFit(fit)) return;
      found.add(fit.strength === 'none' ? 'namesake' : fit.evidence);
      expect(shareKey(identity, other)).toBe(true);
    }),
    // The suite draws the same cases each time, so that rare kinds of evidence occur.
    chosen === undefined ? { numRuns: 2_000, seed: 7 } : { numRuns: Number(chosen) },
  );
  expect([...found].toSorted()).toEqual(['email', 'name_and_organization', 'namesake', 'person_id']);
});

it('a row has no match key in common with a person of the same name at another employer', () => {
  const name = { first_name: 'Anna', last_name: 'Novak' };
  const anna = { firstName: 'Anna', lastName: 'Novak', organizationName: 'Orbit' };
  expect(shareKey(anna, { ...name, organization: { name: 'Orbit' } })).toBe(true);
  expect(shareKey(anna, { ...name, organization: { name: 'Acme' } })).toBe(false);
});
