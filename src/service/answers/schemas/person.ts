import { z } from 'zod';
import { accountSchema } from './account.ts';
import { contactSchema } from './contact.ts';
import { described, flag, number, read, text, texts, unseen } from './field.ts';
import { organizationSchema } from './organization.ts';

export const employmentSchema = z.looseObject({
  _id: text,
  id: text,
  key: text,
  current: read.flag,
  start_date: text,
  end_date: text,
  title: text,
  organization_name: read.text,
  organization_id: text,
  created_at: unseen,
  updated_at: unseen,
  degree: unseen,
  description: unseen,
  emails: unseen,
  grade_level: unseen,
  kind: unseen,
  major: unseen,
  raw_address: unseen,
});

/** The `person` of people enrichment; each element of `matches` in bulk enrichment. */
export const personSchema = z.looseObject({
  id: read.text,
  first_name: read.text,
  last_name: read.text,
  name: read.text,
  proflink_url: read.text,
  title: text,
  headline: text,
  email: read.text,
  email_status: text,
  // The interface document names only the parameter, so another type counts as missing.
  personal_emails: described(z.array(z.string())),
  photo_url: text,
  microblog_url: text,
  codehost_url: text,
  socialnet_url: text,
  extrapolated_email_confidence: number,
  organization_id: text,
  // Only supports a match: no former employer contradicts one.
  employment_history: described(z.array(employmentSchema)),
  state: text,
  city: text,
  country: text,
  contact_id: text,
  contact: contactSchema.nullable().exactOptional(),
  organization: organizationSchema.nullable().exactOptional(),
  account_id: text,
  account: accountSchema.nullish().catch(undefined),
  revealed_for_current_team: flag,
  is_likely_to_engage: flag,
  intent_strength: unseen,
  show_intent: flag,
  departments: described(z.array(z.string())),
  subdepartments: texts,
  functions: texts,
  seniority: text,
});
