import { residenceOf } from './residence.ts';
import { createHash } from 'node:crypto';
import type { Company, Known } from './population.ts';

const teamId = '5b0000000000000000000001';
const savedAt = '2024-02-01T09:00:00.000Z';

/** An entry of the employment history: the current or the previous job. */
export function employment(known: Known, current: boolean): Record<string, unknown> {
  return {
    _id: known.id,
    id: known.id,
    key: known.id,
    created_at: null,
    current,
    degree: null,
    description: null,
    emails: null,
    end_date: current ? null : (known.employedSince ?? '2021-05-31'),
    grade_level: null,
    kind: null,
    major: null,
    organization_id: current ? known.organization.id : null,
    organization_name: current ? known.organization.name : known.pastOrganization,
    raw_address: null,
    start_date: current ? (known.employedSince ?? '2021-06-01') : '2017-02-01',
    title: known.title,
    updated_at: null,
  };
}

/** The saved contact of a person. */
export function contact(known: Known): Record<string, unknown> {
  const { city, country } = residenceOf(known.id);
  const status = known.email === null ? null : 'verified';
  return {
    id: `c${known.id.slice(1)}`,
    person_id: known.id,
    account_id: accountId(known.organization),
    organization_id: known.organization.id,
    creator_id: null,
    contact_stage_id: null,
    first_name: known.firstName,
    last_name: known.lastName,
    name: `${known.firstName} ${known.lastName}`,
    title: known.title,
    headline: `${known.title} at ${known.organization.name}`,
    organization_name: known.organization.name,
    email: known.email,
    email_status: status,
    email_true_status: status,
    present_raw_address: `${city}, ${country}`,
    sanitized_phone: null,
    proflink_url: known.profileUrl,
    source: 'api',
    original_source: 'api',
    source_display_name: 'Requested from API',
    existence_level: 'full',
    time_zone: 'Europe/Oslo',
    created_at: savedAt,
    updated_at: savedAt,
    has_pending_email_arcgate_request: false,
    has_email_arcgate_request: false,
    email_from_customer: null,
    updated_email_true_status: true,
    free_domain: false,
    is_likely_to_engage: false,
    contact_roles: [],
    emailer_campaign_ids: [],
    label_ids: [],
    contact_rule_config_statuses: [],
    typed_custom_fields: {},
    contact_emails: known.email === null ? [] : [contactEmail(known.email)],
    phone_numbers: [],
    extrapolated_email_confidence: null,
    ...Object.fromEntries(neverSeen.map((name) => [name, null])),
  };
}

/** Fields of a contact that are null in all output that the interface document has seen. */
const neverSeen = (
  'owner_id email_needs_tickling photo_url proflink_uid crmx_id crmx_lead_id crmx_contact_id crmx_account_id ' +
  'crm_owner_id direct_dial_status direct_dial_enrichment_failed_at email_source last_activity_date crmy_vid ' +
  'crmy_company_id crm_id merged_crm_ids queued_for_crm_push suggested_from_rule_engine_config_id ' +
  'email_unsubscribed custom_field_errors crm_record_url email_status_unavailable_reason account_phone_note'
).split(' ');

function contactEmail(email: string): Record<string, unknown> {
  const hash = (algorithm: string) => createHash(algorithm).update(email).digest('hex');
  return {
    email,
    email_md5: hash('md5'),
    email_sha256: hash('sha256'),
    email_status: 'verified',
    email_source: null,
    email_from_customer: null,
    extrapolated_email_confidence: null,
    position: 0,
    free_domain: false,
  };
}

/** The identifier of the company as the team has saved it. */
export function accountId({ id }: Company): string {
  return `a${id.slice(1)}`;
}

/** The company as the team has saved it. */
export function account(company: Company): Record<string, unknown> {
  return {
    id: accountId(company),
    name: company.name,
    website_url: `http://www.${company.domain}`,
    blog_url: null,
    startupnet_url: null,
    companydb_url: null,
    proflink_url: companyProfile(company),
    microblog_url: null,
    socialnet_url: null,
    logo_url: null,
    primary_domain: company.domain,
    domain: company.domain,
    proflink_uid: null,
    primary_phone: {},
    languages: [],
    traffic_ranking: 120_345,
    founded_year: 1998,
    publicly_traded_symbol: null,
    publicly_traded_exchange: null,
    team_id: teamId,
    organization_id: company.id,
    account_stage_id: null,
    source: 'api',
    original_source: 'api',
    creator_id: null,
    owner_id: null,
    created_at: savedAt,
    phone: null,
    phone_status: 'no_status',
    sanitized_phone: null,
    account_playbook_statuses: [],
    account_rule_config_statuses: [],
    existence_level: 'full',
    label_ids: [],
    typed_custom_fields: {},
    custom_field_errors: null,
    modality: 'account',
    source_display_name: 'Requested from API',
    parent_account_id: null,
    crmx_id: null,
    crmx_record_url: null,
    crm_record_url: null,
    crm_owner_id: null,
    crmy_id: null,
  };
}

export function companyProfile({ domain }: Company): string {
  return `http://www.linkedin.com/company/${domain.split('.')[0]}`;
}
