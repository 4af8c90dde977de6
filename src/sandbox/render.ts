import type { Known } from './population.ts';

/** Builds the JSON of people. The bulk of a person is its organization: nine tenths, as in the field. */
export class Renderer {
  readonly #padding: string;

  /** @param personBytes about so many bytes of JSON a person */
  constructor(personBytes: number) {
    // Made once: rendering 60 KB anew for each person would be what a benchmark measures.
    this.#padding = JSON.stringify(keywords(Math.max(0, personBytes - bytesWithoutPadding)));
  }

  /**
   * A person as JSON text.
   *
   * @param options.personalEmails whether personal addresses are revealed
   * @param options.endpoint `match` has the saved contact, `bulk_match` the account
   */
  person(known: Known, options: { personalEmails: boolean; endpoint: 'match' | 'bulk_match' }): string {
    const { organization } = known;
    const email = known.email;
    const person = {
      id: known.id,
      first_name: known.firstName,
      last_name: known.lastName,
      name: `${known.firstName} ${known.lastName}`,
      proflink_url: known.profileUrl,
      title: known.title,
      headline: `${known.title} at ${organization.name}`,
      email,
      email_status: email === null ? null : 'verified',
      photo_url: null,
      microblog_url: null,
      codehost_url: null,
      socialnet_url: null,
      extrapolated_email_confidence: null,
      organization_id: organization.id,
      employment_history: [
        employment(known, organization.name, organization.id, true),
        employment(known, known.pastOrganization, null, false),
      ],
      state: 'Region Nord',
      city: 'Havenbruk',
      country: 'Norway',
      revealed_for_current_team: true,
      is_likely_to_engage: false,
      intent_strength: null,
      show_intent: false,
      departments: ['c_suite'],
      subdepartments: [],
      functions: ['operations'],
      seniority: 'manager',
      ...(options.personalEmails && {
        personal_emails: known.personalEmail === null ? [] : [known.personalEmail],
      }),
      ...(options.endpoint === 'match'
        ? { contact_id: `c${known.id.slice(1)}`, contact: contact(known) }
        : { account_id: `a${organization.id.slice(1)}`, account: account(known) }),
    };
    const text = JSON.stringify(person);
    return `${text.slice(0, -1)},"organization":${this.#organization(known)}}`;
  }

  #organization({ organization }: Known): string {
    const text = JSON.stringify({
      id: organization.id,
      name: organization.name,
      website_url: `http://www.${organization.domain}`,
      blog_url: null,
      proflink_url: `http://www.linkedin.com/company/${organization.domain.split('.')[0]}`,
      microblog_url: null,
      socialnet_url: null,
      primary_phone: {},
      languages: [],
      traffic_ranking: 120_345,
      phone: null,
      founded_year: 1998,
      publicly_traded_symbol: null,
      publicly_traded_exchange: null,
      logo_url: null,
      primary_domain: organization.domain,
      industry: 'information technology & services',
      estimated_num_employees: 240,
      industries: ['information technology & services'],
      secondary_industries: [],
      raw_address: 'Quay 1, Havenbruk, Norway',
      city: 'Havenbruk',
      country: 'Norway',
      annual_revenue: 24_000_000,
      annual_revenue_printed: '24M',
      total_funding: null,
      funding_events: [],
      current_technologies: [{ uid: 'postgresql', name: 'PostgreSQL', category: 'Data' }],
      short_description: `${organization.name} is an invented company.`,
    });
    return `${text.slice(0, -1)},"keywords":${this.#padding}}`;
  }
}

const bytesWithoutPadding = 3_400;

function keywords(bytes: number): string[] {
  const word = 'invented keyword for weight';
  return Array.from({ length: Math.ceil(bytes / (word.length + 3)) }, () => word);
}

function employment(
  known: Known,
  name: string,
  organizationId: string | null,
  current: boolean,
): Record<string, unknown> {
  return {
    _id: known.id,
    id: known.id,
    key: known.id,
    created_at: null,
    current,
    degree: null,
    description: null,
    emails: null,
    end_date: current ? null : '2021-05-31',
    grade_level: null,
    kind: null,
    major: null,
    organization_id: organizationId,
    organization_name: name,
    raw_address: null,
    start_date: current ? '2021-06-01' : '2017-02-01',
    title: known.title,
    updated_at: null,
  };
}

function contact(known: Known): Record<string, unknown> {
  return {
    id: `c${known.id.slice(1)}`,
    person_id: known.id,
    first_name: known.firstName,
    last_name: known.lastName,
    name: `${known.firstName} ${known.lastName}`,
    title: known.title,
    email: known.email,
    email_status: known.email === null ? null : 'verified',
    organization_id: known.organization.id,
    organization_name: known.organization.name,
    source: 'api',
    contact_emails:
      known.email === null
        ? []
        : [{ email: known.email, email_status: 'verified', position: 0, free_domain: false }],
    phone_numbers: [],
    typed_custom_fields: {},
  };
}

function account({ organization }: Known): Record<string, unknown> {
  return {
    id: `a${organization.id.slice(1)}`,
    name: organization.name,
    domain: organization.domain,
    primary_domain: organization.domain,
    website_url: `http://www.${organization.domain}`,
    organization_id: organization.id,
    source: 'api',
    created_at: '2024-02-01T09:00:00.000Z',
    primary_phone: {},
    languages: [],
    label_ids: [],
    typed_custom_fields: {},
  };
}
