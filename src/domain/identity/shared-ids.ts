import { compareNames } from './name-agreement.ts';
import type { ComparedPerson } from './identity-evidence.ts';

/** Returns whether two records with one id are of two people: services reuse ids, or give everybody the same one. */
export function areTwoPeople(one: ComparedPerson, other: ComparedPerson): boolean {
  const verdict = compareNames(one.name, other.name);
  const shareIdentifier =
    [...one.emails].some((email) => other.emails.has(email)) ||
    (one.profileUrl !== undefined && one.profileUrl === other.profileUrl);
  return verdict === 'differ' || (verdict === 'other_first_name' && !shareIdentifier);
}
