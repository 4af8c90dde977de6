/**
 * Who a row of an export is about, as far as the row says: normalised, and ready to be sent as one element of
 * `details`.
 *
 * Every field is absent rather than empty. Names keep the spelling of the export; what is compared is compared through
 * the functions of `normalise.ts`.
 */
export interface Identity {
  /** The service's own identifier of the person (`details.id`). */
  readonly personId?: string;
  /** The address to ask with: a work address before a free-mail one, then the order of the export's columns. */
  readonly email?: string;
  /** Further addresses of the same row: they count as evidence and for duplicates, and are not sent. */
  readonly otherEmails?: readonly string[];
  /** MD5 or SHA-256 in lower-case hexadecimal. */
  readonly hashedEmail?: string;
  /** Profile URL without scheme, `www.`, query and trailing slash. */
  readonly profileUrl?: string;
  readonly firstName?: string;
  readonly lastName?: string;
  readonly name?: string;
  readonly organizationName?: string;
  /** Registrable domain of the employer, without `www.` or `@`. */
  readonly domain?: string;
}
