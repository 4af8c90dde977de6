/**
 * The codes of an error. Until 16 February 2027 an answer can have two: `API_INACCESSIBLE` at the root and
 * `DOMAIN.CATEGORY.REASON` in `error_details`. Either of them can have the documented name, so callers test
 * both.
 */
export type ErrorCodes = readonly string[];

/**
 * Finds the code whose last segment is one of the reasons: `INVALID_ACCESS_TOKEN`, or
 * `AUTH.AUTHENTICATION.INVALID_ACCESS_TOKEN`.
 */
export function codeNaming(codes: ErrorCodes, ...reasons: readonly string[]): string | undefined {
  return codes.find((code) => reasons.includes(code.slice(code.lastIndexOf('.') + 1).toUpperCase()));
}

/**
 * Whether a code is about credits: `OUT_OF_CREDITS` and `BILLING.CREDITS.EXHAUSTED` are,
 * `CREDENTIALS_MISSING` is not.
 */
export function nameCredits(codes: ErrorCodes): boolean {
  return codes.some((code) => /(?:^|[._-])credits?(?:[._-]|$)/i.test(code));
}

/** Whether a code says that no person was found: `NO_MATCH`, `PEOPLE.MATCH.NOT_FOUND`; not `ACCOUNT_NOT_FOUND`. */
export function nameMiss(codes: ErrorCodes): boolean {
  return codes.some((code) => missReason.test(code.slice(code.lastIndexOf('.') + 1)));
}

/** The same without `NOT_FOUND` alone, which can also mean an address. */
export function namePersonMiss(codes: ErrorCodes): boolean {
  return codes.some((code) => nameMiss([code]) && !/(?:^|\.)not_found$/i.test(code));
}

const person = '(?:person|people|contact|record|match|result)(?:s|es)?';
const missReason = new RegExp(
  `^(?:no_${person}(?:_found)?|(?:${person}_)?not_found|not_matched|unmatched)$`,
  'i',
);
