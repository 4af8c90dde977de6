import type { ComparedIdentity, Fit } from './identity-evidence.ts';

/** Why weak evidence is refused or withdrawn. */
export const contestedReason = 'another contact could be this person as well';

/**
 * Whether a row and a person make weak evidence of either doubtful: they fit, or say one name and employer, whatever
 * else they say.
 */
export function isPossible(fit: Fit): boolean {
  return fit.strength !== 'none' || fit.namesake;
}

/** Whether two rows are one contact entered twice. */
export function shareKey(row: ComparedIdentity, other: ComparedIdentity): boolean {
  return row.keys.some((key) => other.keys.includes(key));
}
