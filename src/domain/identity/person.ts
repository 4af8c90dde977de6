import type { CopiedMembers } from '../warehouse/person-columns.ts';

/** The read fields of a person in an answer, under the service's names. The stored body keeps all other fields. */
export interface Person extends CopiedMembers<'person'> {
  readonly email?: string | null | undefined;
  readonly email_status?: string | null | undefined;
  readonly organization_id?: string | null | undefined;
  /** Personal e-mails. Only answers to calls that reveal personal e-mails contain them. */
  readonly personal_emails?: readonly string[] | null | undefined;
  readonly extrapolated_email_confidence?: number | null | undefined;
  readonly organization?: Organization | null | undefined;
  readonly employment_history?: readonly (Employment | null | undefined)[] | null | undefined;
  readonly contact?: SavedContact | null | undefined;
  /** True if a field of the wrong type was left out, which could contradict a row. The service sends no such member. */
  readonly isPartlyRead?: boolean;
}

export interface Organization extends CopiedMembers<'employer'> {
  readonly id?: string | null | undefined;
  readonly primary_domain?: string | null | undefined;
  readonly website_url?: string | null | undefined;
}

export interface Employment {
  readonly organization_name?: string | null | undefined;
  readonly title?: string | null | undefined;
  readonly current?: boolean | null | undefined;
}

/** The contact that the team has saved at the service for a person. */
export interface SavedContact extends SavedEmail {
  readonly organization_name?: string | null | undefined;
  readonly contact_emails?: readonly (SavedEmail | null | undefined)[] | null | undefined;
}

interface SavedEmail {
  readonly email?: string | null | undefined;
  readonly email_status?: string | null | undefined;
}
