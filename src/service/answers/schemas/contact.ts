import { z } from 'zod';
import { flag, list, map, number, objects, text, texts, unseen, whole } from './field.ts';

export const contactEmailSchema = z.looseObject({
  email: text,
  email_md5: text,
  email_sha256: text,
  email_status: text,
  position: whole,
  free_domain: flag,
  email_source: unseen,
  email_from_customer: unseen,
  extrapolated_email_confidence: number,
});

/** A phone number in synchronous answers; deliveries name its fields with the suffix `_cd`. */
export interface PhoneNumber {
  readonly raw_number?: string | null;
  readonly sanitized_number?: string | null;
  readonly position?: number | null;
  readonly status?: string | null;
  readonly type?: unknown;
  readonly dnc_status?: unknown;
  readonly dnc_other_info?: unknown;
  readonly dialer_flags?: {
    readonly country_name?: string | null;
    readonly country_enabled?: boolean | null;
    readonly high_risk_calling_enabled?: boolean | null;
    readonly potential_high_risk_number?: boolean | null;
  } | null;
}

/** A person that the team has saved. */
export const contactSchema = z.looseObject({
  id: text,
  person_id: text,
  account_id: text,
  organization_id: text,
  creator_id: text,
  contact_stage_id: text,
  first_name: text,
  last_name: text,
  name: text,
  title: text,
  headline: text,
  organization_name: text,
  email: text,
  email_status: text,
  email_true_status: text,
  present_raw_address: text,
  sanitized_phone: text,
  proflink_url: text,
  source: text,
  original_source: text,
  source_display_name: text,
  existence_level: text,
  time_zone: text,
  created_at: text,
  updated_at: text,
  has_pending_email_arcgate_request: flag,
  has_email_arcgate_request: flag,
  email_from_customer: flag,
  updated_email_true_status: flag,
  free_domain: flag,
  is_likely_to_engage: flag,
  contact_roles: list(),
  emailer_campaign_ids: list(),
  label_ids: texts,
  contact_rule_config_statuses: list(),
  typed_custom_fields: map(),
  contact_emails: objects(contactEmailSchema),
  phone_numbers: list<PhoneNumber>(),
  extrapolated_email_confidence: number,
  owner_id: unseen,
  email_needs_tickling: unseen,
  photo_url: unseen,
  proflink_uid: unseen,
  crmx_id: unseen,
  crmx_lead_id: unseen,
  crmx_contact_id: unseen,
  crmx_account_id: unseen,
  crm_owner_id: unseen,
  direct_dial_status: unseen,
  direct_dial_enrichment_failed_at: unseen,
  email_source: unseen,
  last_activity_date: unseen,
  crmy_vid: unseen,
  crmy_company_id: unseen,
  crm_id: unseen,
  merged_crm_ids: unseen,
  queued_for_crm_push: unseen,
  suggested_from_rule_engine_config_id: unseen,
  email_unsubscribed: unseen,
  custom_field_errors: unseen,
  crm_record_url: unseen,
  email_status_unavailable_reason: unseen,
  account_phone_note: unseen,
});
