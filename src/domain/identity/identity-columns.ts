import type { Identity } from './identity.ts';

/** The identifying cells of a contact, as tables store them; null: the export has no value. */
export interface IdentityColumns {
  readonly person_id: string | null;
  readonly email: string | null;
  readonly other_emails: readonly string[] | null;
  readonly hashed_email: string | null;
  readonly profile_url: string | null;
  readonly first_name: string | null;
  readonly last_name: string | null;
  readonly name: string | null;
  readonly organization_name: string | null;
  readonly domain: string | null;
}

/** The field of an identity that each column stores. */
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
} as const satisfies Readonly<Record<keyof IdentityColumns, keyof Identity>>;

/** The names of these columns, for SQL. */
export const identityColumns = Object.keys(fieldOfColumn) as readonly (keyof IdentityColumns)[];

/** Converts columns to an identity, in which a field is absent instead of null. */
export function identityOfColumns(row: IdentityColumns): Identity {
  return Object.fromEntries(
    identityColumns.flatMap((column) =>
      row[column] === null ? [] : [[fieldOfColumn[column], row[column]] as const],
    ),
  );
}
