import { deliveryKindNames, deliveryKinds } from '../../../../domain/late-results/delivery-kinds.ts';

const phones = {
  number: 'Number in E.164; where it cannot be parsed, as the service wrote it',
  e164: 'Number in E.164; null where it cannot be parsed',
  raw_number: 'Number as the service wrote it',
  type: 'mobile, work or another kind',
  status: 'Validity of the number, as the service states it',
  dnc_status: 'Entry on a do-not-call list; null: no known entry',
  confidence: 'How sure the service is',
  origin: deliveryKindNames.map((kind) => deliveryKinds[kind].phoneOrigin).join(' or '),
};

const observations = {
  observation_id: 'Key of the entry',
  kind: `answer, ${deliveryKindNames.join(' or ')}`,
  organization_facts: 'Hash of the employer in `organization_facts`',
  match_keys: 'Keys that find rows that could be the person',
  facts: 'Values by group of fields, under the names of the interface document',
};

/** Columns of the log, its projections and the suppression list. */
export const commentsOfPeople = {
  observation_log: observations,
  observations: {
    ...observations,
    organization: 'The employer under the names of the interface document',
  },
  organization_facts: {
    facts_hash: 'SHA-256 of the facts',
    facts: 'Company under the names of the interface document',
  },
  contact_matches: {
    match_id: 'Key of the match',
    valid_from: 'When the contact got the person',
    valid_to: 'When the contact lost the person; null: it has the person',
    ended_reason: 'Why the contact lost the person',
  },
  person_history: {
    valid_from: 'When the value took effect in the warehouse',
    valid_to: 'When a later answer said the value again, or it changed',
  },
  contacts: {},
  contact_decisions: {
    decision_id: 'Key of the decision; of a contact and a person the greatest counts',
    verdict: 'confirmed, rejected or withdrawn',
    record_hash: 'Hash of the identifiers and the name of the record: the decision ends when they change',
    reason: 'Why, as text; null: no reason was given',
    decided_by: 'Who decided',
    decided_at: 'When',
  },
  people: {
    emails: 'All addresses; see person_emails',
    phones: 'All phones, the best first; see person_phones',
    employment: 'All jobs; see employment_history',
  },
  organizations: {
    name: 'Name of the company',
    domain: 'Domain of the company',
    website_url: 'Website',
    linkedin_url: 'Profile of the company',
    logo_url: 'Logo',
    industry: 'Main industry',
    industries: 'All industries',
    secondary_industries: 'Further industries',
    keywords: 'Keywords',
    technologies: 'Technologies that the company uses',
    employees: 'Number of employees',
    founded_year: 'Year of founding',
    annual_revenue: 'Revenue a year',
    annual_revenue_printed: 'Revenue a year, as text',
    total_funding: 'Total funding',
    total_funding_printed: 'Total funding, as text',
    latest_funding_stage: 'Stage of the latest funding',
    latest_funding_round_date: 'Date of the latest funding, as the service writes it',
    raw_address: 'Address in one text',
    street_address: 'Street and number',
    postal_code: 'Postal code',
    short_description: 'What the company does',
    seo_description: 'Description for search engines',
    phone: 'Phone of the company',
    observed_at: 'When the service was asked for the newest answer about the company',
  },
  enriched_contacts: {
    run_id: 'Newest run that gave the contact its person; field_provenance has the run of each value',
    row_number: 'Record of the contact in the file of run_id, from 1, header excluded',
    enriched_at: 'When the service was asked for the newest answer about the person, by any run',
    attempt_id: 'Call of the newest answer about the person, by any run',
  },
  person_emails: {
    email: 'An address',
    kind: 'profile, personal, saved_contact or waterfall',
    position:
      'Index in the list of the answer or delivery, from 0; lists of two answers have the same positions',
  },
  person_phones: {
    ...phones,
    position:
      'Index in the list of the answer or delivery, from 0; lists of two deliveries have the same positions',
    rank: 'Place among the numbers of the person, from 1: the number to call first is first',
  },
  contact_phones: {
    ...phones,
    is_first: 'Whether enriched_contacts has this number',
    recorded_at: 'When the newest answer or delivery with the number was written',
    first_recorded_at: 'When the first answer or delivery with the number was written',
  },
  employment_history: {
    position: 'Place in the list of the service, from 1',
    started_on: 'First day, where the service gives a date',
    ended_on: 'Last day, where the service gives a date',
    current: 'Whether the job is current, as the service states it',
  },
  field_provenance: { observed_at: 'When the service was asked for the value' },
  contact_history: {
    valid_from: 'When the value took effect in the warehouse',
    valid_to: 'When a later answer said the value again, or it changed; null: the value is current',
  },
  changes: {
    change_id: 'The cursor',
    operation: 'upsert or delete',
    field_groups: 'Groups of fields that changed',
    changed_at: 'When',
  },
  changes_pruned: {
    singleton: 'Always true: the table has at most one row',
    pruned_change_id: 'The newest dropped cursor',
  },
  suppression_entries: {
    entry_id: 'Hash of the identity',
    kind: 'email, profile, person, hash, name, domain or record',
    domain: 'The domain, if the entry suppresses a whole domain',
    added_by: 'Who added the entry',
    added_at: 'When the entry was added',
  },
  erasures: {
    erasure_id: 'Key of the erasure',
    erased_at: 'When',
    erased_by: 'Who',
    removed: 'Number of removed entries, by kind',
  },
};
