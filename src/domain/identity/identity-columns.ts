import type { Identity } from './identity.ts';

const fieldOfColumn = {
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

/** The identifying cells of a contact, as tables store them; null: the export has no value. */
export type IdentityColumns = {
  readonly [Column in keyof typeof fieldOfColumn]: Required<Identity>[(typeof fieldOfColumn)[Column]] | null;
};

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
