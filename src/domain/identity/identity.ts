/**
 * The person of a row, from its normalised cells, ready to be sent as one element of `details`.
 *
 * An unknown field is absent, and never empty. Names keep the spelling of the export; comparisons use the functions of
 * `normalise.ts`.
 */
export interface Identity {
  /** The service's own identifier of the person (`details.id`). */
  readonly personId?: string;
  /** The address that the call sends: a work address before a free-mail one, then in the order of the columns. */
  readonly email?: string;
  /** Further addresses of the row, which are not sent but count as evidence and for duplicates. */
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
