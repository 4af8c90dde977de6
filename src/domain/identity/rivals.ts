import {
  readyPerson,
  weigh,
  type ComparedIdentity,
  type EmailHashes,
  type Fit,
} from './identity-evidence.ts';
import type { Person } from './person.ts';

/** Why weak evidence is refused or withdrawn. */
export const contestedReason = 'another contact could be this person as well';

/**
 * Whether a row could be a person whom weak evidence gives to another row: it fits the person, or says the same name
 * and employer, whatever else it says. Two rows that share an identity key are one contact entered twice, and no
 * rivals.
 */
export function isRival(fit: Fit, row: ComparedIdentity, other: ComparedIdentity): boolean {
  if (fit.strength === 'none' && !fit.namesake) return false;
  return !row.keys.some((key) => other.keys.includes(key));
}

/** Whether one of other contacts could be a person whom weak evidence gives to a row. */
export function hasRival(
  person: Person,
  row: ComparedIdentity,
  others: readonly ComparedIdentity[],
  hashesOf: EmailHashes,
): boolean {
  const candidate = readyPerson(person);
  return others.some((other) => isRival(weigh(other, candidate, hashesOf), row, other));
}
