import { z } from 'zod';
import type { Person } from '../../../domain/identity/person.ts';
import {
  checkedTexts,
  described,
  each,
  flag,
  identifying,
  list,
  map,
  number,
  objects,
  personId,
  text,
  unseen,
  whole,
  type SchemaOf,
} from './field.ts';
import { accountSchema, organizationSchema } from './organization.ts';

export const employmentSchema = z.looseObject({
  ...each('_id, id, key, title, organization_name, organization_id, start_date, end_date', text),
  current: flag,
  ...each('created_at, updated_at, degree, description, emails, grade_level, kind, major', unseen),
  raw_address: unseen,
});

export const contactEmailSchema = z.looseObject({
  ...each('email, email_md5, email_sha256, email_status', text),
  position: whole,
  free_domain: flag,
  ...each('email_source, email_from_customer', unseen),
  extrapolated_email_confidence: number,
});

/** A person that the team has saved. */
export const contactSchema = z.looseObject({
  ...each('id, person_id, account_id, organization_id, creator_id, contact_stage_id', text),
  ...each('first_name, last_name, name, title, headline, organization_name, email, email_status', text),
  ...each('email_true_status, present_raw_address, sanitized_phone, proflink_url, source', text),
  ...each(
    'original_source, source_display_name, existence_level, time_zone, created_at, updated_at',
    text,
  ),
  ...each('has_pending_email_arcgate_request, has_email_arcgate_request, email_from_customer', flag),
  ...each('updated_email_true_status, free_domain, is_likely_to_engage', flag),
  ...each('contact_roles, emailer_campaign_ids, label_ids, contact_rule_config_statuses', list),
  typed_custom_fields: map,
  contact_emails: objects(contactEmailSchema),
  phone_numbers: list,
  extrapolated_email_confidence: number,
  ...each('owner_id, email_needs_tickling, photo_url, proflink_uid, crmx_id, crmx_lead_id', unseen),
  ...each('crmx_contact_id, crmx_account_id, crm_owner_id, direct_dial_status, email_source', unseen),
  ...each('direct_dial_enrichment_failed_at, last_activity_date, crmy_vid, crmy_company_id, crm_id', unseen),
  ...each('merged_crm_ids, queued_for_crm_push, suggested_from_rule_engine_config_id', unseen),
  ...each('email_unsubscribed, custom_field_errors, crm_record_url, account_phone_note', unseen),
  email_status_unavailable_reason: unseen,
});

/** The `person` of people enrichment; each element of `matches` in bulk enrichment. */
export const personSchema = z.looseObject({
  id: personId,
  ...each('first_name, last_name, name, proflink_url, email', identifying),
  ...each('title, headline, email_status, photo_url, microblog_url, codehost_url, socialnet_url', text),
  // The interface document names only the parameter.
  personal_emails: checkedTexts,
  extrapolated_email_confidence: number,
  // Only supports a match: no former employer contradicts one.
  employment_history: objects(employmentSchema),
  ...each('organization_id, state, city, country, contact_id, account_id, seniority', text),
  contact: described(contactSchema),
  organization: described(organizationSchema),
  account: described(accountSchema),
  ...each('revealed_for_current_team, is_likely_to_engage, show_intent', flag),
  intent_strength: unseen,
  ...each('departments, subdepartments, functions', checkedTexts),
} satisfies SchemaOf<Omit<Person, 'isPartlyRead'>>);
