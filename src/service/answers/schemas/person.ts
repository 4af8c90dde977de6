import { z } from 'zod';
import { accountSchema } from './account.ts';
import { contactSchema } from './contact.ts';
import {
  checkedTexts,
  described,
  flag,
  identifying,
  number,
  objects,
  text,
  texts,
  unseen,
  type ColumnsOf,
} from './field.ts';
import { organizationSchema } from './organization.ts';

export const employmentSchema = z.looseObject({
  _id: text,
  id: text,
  key: text,
  current: flag,
  start_date: text,
  end_date: text,
  title: text,
  organization_name: text,
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
  id: identifying,
  first_name: identifying,
  last_name: identifying,
  name: identifying,
  proflink_url: identifying,
  title: text,
  headline: text,
  email: identifying,
  email_status: text,
  // The interface document names only the parameter.
  personal_emails: checkedTexts,
  photo_url: text,
  microblog_url: text,
  codehost_url: text,
  socialnet_url: text,
  extrapolated_email_confidence: number,
  organization_id: text,
  // Only supports a match: no former employer contradicts one.
  employment_history: objects(employmentSchema),
  state: text,
  city: text,
  country: text,
  contact_id: text,
  contact: described(contactSchema),
  organization: described(organizationSchema),
  account_id: text,
  account: described(accountSchema),
  revealed_for_current_team: flag,
  is_likely_to_engage: flag,
  intent_strength: unseen,
  show_intent: flag,
  departments: checkedTexts,
  subdepartments: texts,
  functions: texts,
  seniority: text,
} satisfies ColumnsOf<'person'>);
