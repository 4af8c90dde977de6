import { weigh, type ComparedIdentity, type ComparedPerson, type Fit } from './identity-evidence.ts';

/** Why weak evidence is refused or withdrawn. */
export const contestedReason = 'another contact could be this person as well';

/**
 * Whether a row could be a person, which makes other weak evidence of either doubtful: the row fits, or has the
 * person's name and employer, even if something else contradicts.
 */
export function isPossible(fit: Fit): boolean {
  return fit.strength !== 'none' || fit.namesake;
}

/** Whether two rows are one contact entered twice. */
function shareKey(row: ComparedIdentity, other: ComparedIdentity): boolean {
  return row.keys.some((key) => other.keys.includes(key));
}

/** Whether another contact could be the person of a row as well. @param others rows of other contacts, for a person */
export function isContested(
  row: ComparedIdentity,
  person: ComparedPerson,
  others: (person: ComparedPerson) => readonly ComparedIdentity[],
): boolean {
  return others(person).some((other) => isPossible(weigh(other, person)) && !shareKey(row, other));
}
