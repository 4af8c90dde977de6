/**
 * A person as the service returns one: the fields that the product reads, under the names of the wire. Any field may be
 * null or missing; everything else of the answer is kept raw.
 */
export interface Person {
  readonly id?: string | null;
  readonly first_name?: string | null;
  readonly last_name?: string | null;
  readonly name?: string | null;
  readonly proflink_url?: string | null;
  readonly title?: string | null;
  readonly headline?: string | null;
  readonly email?: string | null;
  readonly email_status?: string | null;
  readonly extrapolated_email_confidence?: number | null;
  readonly seniority?: string | null;
  readonly departments?: readonly string[] | null;
  readonly city?: string | null;
  readonly state?: string | null;
  readonly country?: string | null;
  readonly organization_id?: string | null;
  readonly organization?: Organization | null;
  readonly employment_history?: readonly Employment[] | null;
  readonly contact?: SavedContact | null;
}

export interface Organization {
  readonly id?: string | null;
  readonly name?: string | null;
  readonly website_url?: string | null;
  readonly primary_domain?: string | null;
  readonly industry?: string | null;
  readonly estimated_num_employees?: number | null;
}

export interface Employment {
  readonly organization_name?: string | null;
  readonly title?: string | null;
  readonly current?: boolean | null;
}

export interface SavedContact {
  readonly email?: string | null;
  readonly organization_name?: string | null;
  readonly contact_emails?: readonly { readonly email?: string | null }[] | null;
}
