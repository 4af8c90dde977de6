import type { Company, Known } from './population.ts';
import { residenceOf } from './residence.ts';
import { account, accountId, companyProfile, contact, employment } from './saved-records.ts';

export interface PersonOptions {
  /**
   * `match` includes the saved contact, `bulk_match` the account, and `search` neither of them and no
   * address.
   */
  readonly endpoint: 'match' | 'bulk_match' | 'search';
  readonly personalEmails?: boolean;
  /** Approximate bytes of JSON; undefined: the default size. */
  readonly bytes?: number | undefined;
}

/** Search returns it instead of an address that the team has not paid for. */
const lockedEmail = 'email_not_unlocked@domain.com';

/** Renders people and companies as JSON. Nine tenths of a person are its organization, as observed. */
export class Renderer {
  readonly #bytes: number;
  readonly #paddings = new Map<number, string>();

  /** @param personBytes approximate bytes of JSON per person */
  constructor(personBytes: number) {
    this.#bytes = personBytes;
  }

  person(known: Known, options: PersonOptions): string {
    const { organization } = known;
    const text = JSON.stringify({ ...personRecord(known, options), ...savedRecord(known, options) });
    return `${text.slice(0, -1)},"organization":${this.organization(organization, options.bytes)}}`;
  }

  /**
   * A company as JSON text.
   *
   * @param bytes approximate size of a person with this company
   */
  organization(company: Company, bytes = this.#bytes): string {
    const text = JSON.stringify(companyRecord(company));
    return `${text.slice(0, -1)},"keywords":${this.#padding(bytes)}}`;
  }

  /** Cached for each size, so that benchmarks do not measure rendering. */
  #padding(bytes: number): string {
    const made = this.#paddings.get(bytes);
    if (made !== undefined) return made;
    const padding = JSON.stringify(keywords(Math.max(0, bytes - bytesWithoutPadding)));
    this.#paddings.set(bytes, padding);
    return padding;
  }
}

const bytesWithoutPadding = 5_000;

function keywords(bytes: number): string[] {
  const word = 'invented keyword for weight';
  return Array.from({ length: Math.ceil(bytes / (word.length + 3)) }, () => word);
}

function personRecord(known: Known, { endpoint, personalEmails }: PersonOptions): Record<string, unknown> {
  const { organization, email } = known;
  const { city, state, country, isRegulated } = residenceOf(known.id);
  return {
    id: known.id,
    first_name: known.firstName,
    last_name: known.lastName,
    name: `${known.firstName} ${known.lastName}`,
    proflink_url: known.profileUrl,
    title: known.title,
    headline: `${known.title} at ${organization.name}`,
    email: email !== null && endpoint === 'search' ? lockedEmail : email,
    email_status: email === null ? null : 'verified',
    photo_url: null,
    microblog_url: null,
    codehost_url: null,
    socialnet_url: null,
    extrapolated_email_confidence: null,
    organization_id: organization.id,
    employment_history: [employment(known, true), employment(known, false)],
    state,
    city,
    country,
    revealed_for_current_team: endpoint !== 'search',
    is_likely_to_engage: false,
    intent_strength: null,
    show_intent: false,
    departments: ['c_suite'],
    subdepartments: [],
    functions: ['operations'],
    seniority: 'manager',
    ...(personalEmails && {
      personal_emails: known.personalEmail === null || isRegulated ? [] : [known.personalEmail],
    }),
  };
}

function savedRecord(known: Known, { endpoint }: PersonOptions): Record<string, unknown> {
  switch (endpoint) {
    case 'match':
      return { contact_id: `c${known.id.slice(1)}`, contact: contact(known) };
    case 'bulk_match':
      return { account_id: accountId(known.organization), account: account(known.organization) };
    case 'search':
      return { person_id: known.id };
  }
}

/**
 * Written out, as `account` is: spreading the fields that both have made each object slow, and the sandbox answered
 * half as many calls.
 */
function companyRecord(company: Company): Record<string, unknown> {
  return {
    id: company.id,
    name: company.name,
    website_url: `http://www.${company.domain}`,
    blog_url: null,
    proflink_url: companyProfile(company),
    microblog_url: null,
    socialnet_url: null,
    primary_phone: {},
    languages: [],
    traffic_ranking: 120_345,
    phone: null,
    proflink_uid: null,
    founded_year: 1998,
    publicly_traded_symbol: null,
    publicly_traded_exchange: null,
    logo_url: null,
    startupnet_url: null,
    companydb_url: null,
    primary_domain: company.domain,
    owned_by_organization_id: null,
    industry: 'information technology & services',
    estimated_num_employees: 240,
    industries: ['information technology & services'],
    secondary_industries: [],
    industry_tag_id: '7a0000000000000000000001',
    industry_tag_hash: { 'information technology & services': '7a0000000000000000000001' },
    snippets_loaded: true,
    retail_location_count: 0,
    raw_address: 'Quay 1, 7010 Havenbruk, Norway',
    street_address: 'Quay 1',
    city: 'Havenbruk',
    state: 'Region Nord',
    postal_code: '7010',
    country: 'Norway',
    suborganizations: [],
    num_suborganizations: 0,
    annual_revenue: 24_000_000,
    annual_revenue_printed: '24M',
    total_funding: 3_500_000,
    total_funding_printed: '3.5M',
    latest_funding_round_date: '2019-04-02T00:00:00.000Z',
    latest_funding_stage: 'Seed',
    funding_events: [
      {
        id: company.id,
        date: '2019-04-02T00:00:00.000Z',
        news_url: null,
        type: 'Seed',
        investors: 'Invented Capital, Someone Else',
        amount: '3.5M',
        currency: '€',
      },
    ],
    technology_names: ['PostgreSQL'],
    current_technologies: [{ uid: 'postgresql', name: 'PostgreSQL', category: 'Data' }],
    org_chart_root_people_ids: [],
    org_chart_sector: 'technology',
    org_chart_removed: false,
    org_chart_show_department_filter: true,
    seo_description: `${company.name}, invented.`,
    short_description: `${company.name} is an invented company.`,
  };
}
