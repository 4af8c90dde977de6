import { z } from 'zod';
import type { OperationName } from '../../../src/sandbox/interface/operations.ts';

// The answers of the interface document, by which tests check the sandbox.

/** Any field of a record may be null when the service has no value. */
const text = z.string().nullable();
const flag = z.boolean().nullable();
const number = z.number().nullable();
const whole = z.int().nullable();
const texts = z.array(z.string()).nullable();
const list = z.array(z.unknown()).nullable();
const map = z.record(z.string(), z.unknown()).nullable();
const time = z.string().nullable();

/** Always null in the output of the interface document, which shows no type. */
const unseen = z.null();

/** The same schema for several names. */
function each<Name extends string, Shape extends z.ZodType>(
  names: readonly Name[],
  shape: Shape,
): Record<Name, Shape> {
  return Object.fromEntries(names.map((name) => [name, shape])) as Record<Name, Shape>;
}

const fundingEvent = z.object({
  id: text,
  date: time,
  news_url: text,
  type: text,
  investors: text,
  amount: text,
  currency: text,
});

const technology = z.object({ uid: text, name: text, category: text });

/** The fields of a company that a company saved by the team has as well. */
const companyFields = {
  ...each(['id', 'name', 'website_url', 'proflink_url', 'microblog_url', 'socialnet_url', 'logo_url'], text),
  ...each(['primary_domain', 'proflink_uid'], text),
  ...each(['blog_url', 'startupnet_url', 'companydb_url'], unseen),
  ...each(['publicly_traded_symbol', 'publicly_traded_exchange'], unseen),
  primary_phone: map,
  ...each(['traffic_ranking', 'founded_year'], whole),
};

const organizationSchema = z.object({
  ...companyFields,
  ...each(['phone', 'owned_by_organization_id'], unseen),
  languages: texts,
  secondary_industries: texts,
  suborganizations: list,
  ...each(['estimated_num_employees', 'retail_location_count', 'num_suborganizations'], whole),
  ...each(['annual_revenue', 'total_funding'], whole),
  ...each(['annual_revenue_printed', 'total_funding_printed', 'industry', 'industry_tag_id'], text),
  ...each(['industries', 'keywords', 'technology_names', 'org_chart_root_people_ids'], texts),
  industry_tag_hash: z.record(z.string(), z.string()).nullable(),
  ...each(['snippets_loaded', 'org_chart_removed', 'org_chart_show_department_filter'], flag),
  ...each(['raw_address', 'street_address', 'city', 'state', 'postal_code', 'country'], text),
  ...each(['seo_description', 'short_description'], text),
  latest_funding_round_date: time,
  latest_funding_stage: text,
  funding_events: z.array(fundingEvent).nullable(),
  current_technologies: z.array(technology).nullable(),
  org_chart_sector: text,
});

const ruleStatus = z.object({
  ...each(['_id', 'id', 'key', 'rule_action_config_id', 'rule_config_id', 'status_cd'], z.string()),
  created_at: time,
  updated_at: time,
});

/** A company that the team has saved; in bulk matches. */
const accountSchema = z.object({
  ...companyFields,
  ...each(['domain', 'team_id', 'organization_id', 'source'], text),
  ...each(['original_source', 'phone', 'phone_status', 'sanitized_phone', 'existence_level'], text),
  ...each(['modality', 'source_display_name', 'crmx_id', 'crmx_record_url', 'crm_record_url'], text),
  ...each(['crm_owner_id', 'owner_id'], text),
  created_at: time,
  ...each(['account_stage_id', 'creator_id', 'crmy_id', 'parent_account_id', 'custom_field_errors'], unseen),
  typed_custom_fields: map,
  ...each(['languages', 'label_ids', 'account_playbook_statuses'], list),
  account_rule_config_statuses: z.array(ruleStatus).nullable(),
});

const employment = z.object({
  ...each(['_id', 'id', 'key', 'title', 'organization_name', 'organization_id'], text),
  current: flag,
  start_date: text,
  end_date: text,
  ...each(['created_at', 'updated_at', 'degree', 'description', 'emails', 'grade_level'], unseen),
  ...each(['kind', 'major', 'raw_address'], unseen),
});

const contactEmail = z.object({
  ...each(['email', 'email_md5', 'email_sha256', 'email_status'], z.string()),
  position: z.int().min(0),
  free_domain: z.boolean(),
  email_source: text,
  email_from_customer: flag,
  extrapolated_email_confidence: number,
});

const phoneNumber = z.object({
  raw_number: z.string(),
  sanitized_number: z.string(),
  position: z.int().min(0),
  status: z.string(),
  ...each(['type', 'dnc_status', 'dnc_other_info'], text),
  dialer_flags: z
    .object({
      country_name: z.string(),
      ...each(['country_enabled', 'high_risk_calling_enabled', 'potential_high_risk_number'], z.boolean()),
    })
    .nullable(),
});

/** A person that the team has saved; in the answer of people/match. */
const contactSchema = z.object({
  ...each(['id', 'person_id', 'account_id', 'organization_id', 'creator_id', 'contact_stage_id'], text),
  ...each(['first_name', 'last_name', 'name', 'title', 'headline', 'organization_name', 'email'], text),
  ...each(['email_status', 'email_true_status', 'present_raw_address', 'sanitized_phone'], text),
  ...each(['proflink_url', 'source', 'original_source', 'source_display_name', 'existence_level'], text),
  time_zone: text,
  created_at: time,
  updated_at: time,
  ...each(['has_pending_email_arcgate_request', 'has_email_arcgate_request', 'email_from_customer'], flag),
  ...each(['updated_email_true_status', 'free_domain', 'is_likely_to_engage'], flag),
  ...each(['contact_roles', 'emailer_campaign_ids', 'label_ids', 'contact_rule_config_statuses'], list),
  typed_custom_fields: map,
  contact_emails: z.array(contactEmail),
  phone_numbers: z.array(phoneNumber),
  extrapolated_email_confidence: number,
  ...each(
    ['owner_id', 'email_needs_tickling', 'photo_url', 'proflink_uid', 'crmx_id', 'crmx_lead_id'],
    unseen,
  ),
  ...each(['crmx_contact_id', 'crmx_account_id', 'crm_owner_id', 'direct_dial_status'], unseen),
  ...each(['direct_dial_enrichment_failed_at', 'email_source', 'last_activity_date', 'crmy_vid'], unseen),
  ...each(['crmy_company_id', 'crm_id', 'merged_crm_ids', 'queued_for_crm_push'], unseen),
  ...each(['suggested_from_rule_engine_config_id', 'email_unsubscribed', 'custom_field_errors'], unseen),
  ...each(['crm_record_url', 'email_status_unavailable_reason', 'account_phone_note'], unseen),
});

const shared = {
  ...each(['id', 'first_name', 'last_name', 'name', 'proflink_url', 'title', 'headline', 'email'], text),
  ...each(['email_status', 'photo_url', 'microblog_url', 'codehost_url', 'socialnet_url'], text),
  extrapolated_email_confidence: number,
  organization_id: text,
  employment_history: z.array(employment),
  ...each(['state', 'city', 'country', 'seniority'], text),
  ...each(['revealed_for_current_team', 'is_likely_to_engage', 'show_intent'], flag),
  intent_strength: unseen,
  ...each(['departments', 'subdepartments', 'functions'], texts),
  organization: organizationSchema,
};

const personalEmails = z.array(z.string()).optional();

/** The `person` of people/match. */
const personSchema = z.object({
  ...shared,
  personal_emails: personalEmails,
  contact_id: text,
  contact: contactSchema,
});

/** An element of the `matches` of people/bulk_match. */
const matchSchema = z.object({
  ...shared,
  personal_emails: personalEmails,
  account_id: text,
  account: accountSchema,
});

/** A JSON parser rounds it: read it from the text. */
const requestId = z.number();
const count = z.int().min(0);

const waterfall = z
  .object({ status: z.enum(['accepted', 'partial_accepted', 'failed']), message: z.string() })
  .optional();
const phoneEnrichment = z
  .object({ request_id: requestId, status: z.enum(['pending', 'skipped', 'failed']) })
  .optional();

const matchAnswerSchema = z.object({
  person: personSchema.nullable(),
  phone_enrichment: phoneEnrichment,
  waterfall,
  request_id: requestId,
});

const bulkAnswerSchema = z.object({
  status: z.string(),
  error_code: z.string().nullable(),
  error_message: z.string().nullable(),
  total_requested_enrichments: count,
  unique_enriched_records: count,
  missing_records: count,
  /** Absent on waterfall requests. */
  credits_consumed: z.number().min(0).optional(),
  phone_enrichment: phoneEnrichment,
  waterfall,
  request_id: requestId,
  matches: z.array(matchSchema.nullable()),
});

const healthSchema = z.object({ healthy: z.boolean(), is_logged_in: z.boolean() });

const userSchema = z.object({
  id: z.string(),
  first_name: z.string(),
  last_name: z.string(),
  email: z.string(),
  created_at: z.string(),
  is_admin: z.boolean(),
  deleted: z.boolean(),
});

const usage = z.object({
  limit: z.number().nullable(),
  consumed: z.number(),
  left_over: z.number().nullable(),
});

/** Keys such as `["api/v1/people", "bulk_match"]`. */
const apiUsageSchema = z.record(z.string(), z.object({ minute: usage, hour: usage, day: usage }));

const creditUsageSchema = z.object({
  credit_usage_stats: z.record(z.string(), usage),
  current_credit_cycle: z.object({ start_date: z.string(), end_date: z.string() }),
});

const pollAnswerSchema = z.object({
  request_id: requestId,
  webhook_status: z.enum(['in_progress', 'success', 'failed']),
  request_type: z.string(),
  last_dispatched_at: z.string().nullable(),
  failure_reason: z.string().nullable(),
  webhook_result: z.unknown(),
});

const errorDetails = z.object({
  code: z.string(),
  message: z.string(),
  suggestions: z.array(
    z.object({
      label: z.string(),
      url: z.string().optional(),
      parameter: z.string().optional(),
      parameters: z.array(z.string()).optional(),
      header: z.string().optional(),
      example: z.string().optional(),
      retry_after_seconds: z.number().optional(),
    }),
  ),
  context: z.record(z.string(), z.object({ value: z.string(), description: z.string() })).optional(),
});

/** Root-level members end on 16 February 2027; some endpoints already have only `error_details`. */
export const errorSchema = z.object({
  error: z.string().optional(),
  error_code: z.string().optional(),
  message: z.string().optional(),
  status: z.string().optional(),
  error_message: z.string().optional(),
  retry_after_seconds: z.number().optional(),
  error_details: errorDetails.optional(),
});

/** The answer of each operation. */
export const answerSchemas: Readonly<Record<OperationName, z.ZodType>> = {
  match: matchAnswerSchema,
  bulkMatch: bulkAnswerSchema,
  poll: pollAnswerSchema,
  health: healthSchema,
  profile: userSchema,
  apiUsage: apiUsageSchema,
  creditUsage: creditUsageSchema,
};
