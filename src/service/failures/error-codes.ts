/**
 * The codes of an error. Until 16 February 2027 an answer may carry two at once, in different words: `API_INACCESSIBLE`
 * at the root, and `DOMAIN.CATEGORY.REASON` in `error_details`. Nothing says which of them a service fills first with
 * the documented name, so each question is put to both.
 */
export type ErrorCodes = readonly string[];

/**
 * The code whose last segment is this reason: `INVALID_ACCESS_TOKEN` as such, or
 * `AUTH.AUTHENTICATION.INVALID_ACCESS_TOKEN`.
 */
export function codeNaming(codes: ErrorCodes, ...reasons: readonly string[]): string | undefined {
  return codes.find((code) => reasons.includes(code.slice(code.lastIndexOf('.') + 1).toUpperCase()));
}

/** `OUT_OF_CREDITS`, `BILLING.CREDITS.EXHAUSTED`; not `AUTH.AUTHENTICATION.CREDENTIALS_MISSING`. */
export function nameCredits(codes: ErrorCodes): boolean {
  return codes.some((code) => /(?:^|[._-])credits?(?:[._-]|$)/i.test(code));
}
