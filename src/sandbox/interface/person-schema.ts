import { z } from 'zod';
import { each, flag, list, map, number, text, texts, time, unseen } from './fields.ts';
import { accountSchema, organizationSchema } from './organization-schema.ts';

const employment = z.object({
  ...each(['_id', 'id', 'key', 'title', 'organization_name', 'organization_id'], text),
  current: flag,
  start_date: text.meta({ description: 'YYYY-MM-DD' }),
  end_date: text.meta({ description: 'YYYY-MM-DD; null: the current job' }),
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
export const contactSchema = z.object({
  ...each(['id', 'person_id', 'account_id', 'organization_id', 'creator_id', 'contact_stage_id'], text),
  ...each(['first_name', 'last_name', 'name', 'title', 'headline', 'organization_name', 'email'], text),
  ...each(['email_status', 'email_true_status', 'present_raw_address', 'sanitized_phone'], text),
  ...each(['proflink_url', 'source', 'original_source', 'source_display_name', 'existence_level'], text),
  time_zone: text.meta({ description: 'IANA zone name' }),
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

const personalEmails = z.array(z.string()).optional().meta({ description: 'with reveal_personal_emails' });

/** The `person` of people/match. */
export const personSchema = z.object({
  ...shared,
  personal_emails: personalEmails,
  contact_id: text,
  contact: contactSchema,
});

/** An element of the `matches` of people/bulk_match. */
export const matchSchema = z.object({
  ...shared,
  personal_emails: personalEmails,
  account_id: text,
  account: accountSchema,
});

/** An element of the `people` of people search, with placeholders instead of addresses. */
export const searchedPersonSchema = z.object({ ...shared, person_id: z.string() });
