import type { ComparedIdentity, Fit } from './identity-evidence.ts';

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
export function shareKey(row: ComparedIdentity, other: ComparedIdentity): boolean {
  return row.keys.some((key) => other.keys.includes(key));
}
