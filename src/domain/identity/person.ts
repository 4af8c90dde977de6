import type { AnsweredMembers } from './person-columns.ts';

/**
 * A person as the service returns one: the fields that the product reads, under the names of the wire. Any field may be
 * null or missing; everything else of the answer is kept raw.
 */
export interface Person extends AnsweredMembers<'person'> {
  readonly email?: string | null | undefined;
  readonly email_status?: string | null | undefined;
  /** Comes only where personal addresses are revealed. */
  readonly personal_emails?: readonly string[] | null | undefined;
  readonly extrapolated_email_confidence?: number | null | undefined;
  readonly organization_id?: string | null | undefined;
  readonly organization?: Organization | null | undefined;
  readonly employment_history?: readonly (Employment | null | undefined)[] | null | undefined;
  readonly contact?: SavedContact | null | undefined;
  /** A field that could contradict a row had an unexpected type and was left out. */
  readonly isPartlyRead?: boolean;
}

export interface Organization extends AnsweredMembers<'employer'> {
  readonly id?: string | null | undefined;
  readonly website_url?: string | null | undefined;
  readonly primary_domain?: string | null | undefined;
}

export interface Employment {
  readonly organization_name?: string | null | undefined;
  readonly title?: string | null | undefined;
  readonly current?: boolean | null | undefined;
}

export interface SavedContact {
  readonly email?: string | null | undefined;
  readonly organization_name?: string | null | undefined;
  readonly contact_emails?:
    | readonly ({ readonly email?: string | null | undefined } | null | undefined)[]
    | null
    | undefined;
}
