import { createHash } from 'node:crypto';
import type { Rule } from './scenario.ts';

/**
 * Applies a fault to the found people. The bill stays unchanged, because the service has done its work.
 *
 * @param people JSON texts in the order of `details`, `null` for a miss
 * @param stranger creates a person that the call did not ask for
 */
export function distort(people: readonly string[], fault: Rule, stranger: () => string): readonly string[] {
  switch (fault.matches) {
    case 'null':
      return people.map(() => 'null');
    case 'drop':
      return people.filter((person) => person !== 'null');
    case 'reverse':
      return people.toReversed();
    case 'rotate':
      return [...people.slice(1), ...people.slice(0, 1)];
    case 'stub':
      return people.map((person) =>
        person === 'null'
          ? '{"id":"stub","first_name":null,"last_name":null,"name":null,"email":null,' +
            '"organization":{"name":"Somewhere"}}'
          : person,
      );
    case 'foreign':
      return people.map((person) => (person === 'null' ? person : stranger()));
    case 'short':
      return people.slice(0, Math.floor(people.length / 2));
    case 'duplicate':
      return people.flatMap((person) => [person, person]);
    case 'long-ids':
      return people.map((person) =>
        person.replace(/"id":"([^"]*)"/, (_, id: string) => `"id":"${longId(id)}"`),
      );
    case 'not-a-list':
    case undefined:
      return people;
  }
}

/** Longer than an entry of an index, and not compressible. */
function longId(id: string): string {
  const hashes = Array.from({ length: 200 }, (_, index) =>
    createHash('sha256').update(`${id} ${index}`).digest('base64url'),
  );
  return hashes.join('');
}
