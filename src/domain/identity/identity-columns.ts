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

/** The names of these columns, for SQL. */
export const identityColumns = [
  'person_id',
  'email',
  'other_emails',
  'hashed_email',
  'profile_url',
  'first_name',
  'last_name',
  'name',
  'organization_name',
  'domain',
] as const satisfies readonly (keyof IdentityColumns)[];

/** Converts columns to an identity, in which a field is absent instead of null. */
export function identityOfColumns(row: IdentityColumns): Identity {
  return {
    ...(row.person_id !== null && { personId: row.person_id }),
    ...(row.email !== null && { email: row.email }),
    ...(row.other_emails !== null && { otherEmails: row.other_emails }),
    ...(row.hashed_email !== null && { hashedEmail: row.hashed_email }),
    ...(row.profile_url !== null && { profileUrl: row.profile_url }),
    ...(row.first_name !== null && { firstName: row.first_name }),
    ...(row.last_name !== null && { lastName: row.last_name }),
    ...(row.name !== null && { name: row.name }),
    ...(row.organization_name !== null && { organizationName: row.organization_name }),
    ...(row.domain !== null && { domain: row.domain }),
  };
}
