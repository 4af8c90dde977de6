/**
 * The person of a row, from the normalised cells, ready to be sent as one element of `details`. An unknown field is
 * absent, and never empty. Names keep the spelling of the export; comparisons use the functions of `normalise.ts`.
 */
export interface Identity {
  /** Id of the person at the service (`details.id`). */
  readonly personId?: string;
  /** The e-mail that a call sends. Work e-mails come before free mail, then the order of the columns counts. */
  readonly email?: string;
  /** Other e-mails of the row. Calls do not send them, but they count as evidence and show duplicates. */
  readonly otherEmails?: readonly string[];
  /** MD5 or SHA-256 of an e-mail, in lower-case hexadecimal. */
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

/** The field of an identity that each column of a table stores. */
export const fieldOfColumn = {
  person_id: 'personId',
  email: 'email',
  other_emails: 'otherEmails',
  hashed_email: 'hashedEmail',
  profile_url: 'profileUrl',
  first_name: 'firstName',
  last_name: 'lastName',
  name: 'name',
  organization_name: 'organizationName',
  domain: 'domain',
} as const satisfies Readonly<Record<string, keyof Identity>>;

/** The identifying cells of a contact in table columns; null if the export has no value. */
export type IdentityColumns = {
  readonly [Column in keyof typeof fieldOfColumn]: Required<Identity>[(typeof fieldOfColumn)[Column]] | null;
};

export const identityColumns = Object.keys(fieldOfColumn) as readonly (keyof IdentityColumns)[];

/** Converts columns to an identity, in which a field is absent instead of null. */
export function identityOfColumns(row: IdentityColumns): Identity {
  return Object.fromEntries(
    identityColumns.flatMap((column) =>
      row[column] === null ? [] : [[fieldOfColumn[column], row[column]] as const],
    ),
  );
}
