import { compareNames } from './name-agreement.ts';
import type { ComparedPerson } from './identity-evidence.ts';

/** Whether two records with the same id are two people: services reuse ids, or give everybody the same id. */
export function areTwoPeople(one: ComparedPerson, other: ComparedPerson): boolean {
  const verdict = compareNames(one.name, other.name);
  const shareIdentifier =
    [...one.emails].some((email) => other.emails.has(email)) ||
    (one.profileUrl !== undefined && one.profileUrl === other.profileUrl);
  return verdict === 'differ' || (verdict === 'other_first_name' && !shareIdentifier);
}
