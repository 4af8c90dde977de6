import { describe, expect, it } from 'vitest';
import type { z } from 'zod';
import { accountSchema, organizationSchema } from '../../../src/service/answers/schemas/organization.ts';
import { contactSchema, personSchema } from '../../../src/service/answers/schemas/person.ts';

/** The tables of the interface document: names of fields by their type. */
const documented: Record<string, { schema: z.ZodType; fields: Record<string, string> }> = {
  Person: {
    schema: personSchema,
    fields: {
      string: `id first_name last_name name proflink_url title headline email email_status photo_url microblog_url
        codehost_url
        socialnet_url organization_id state city country contact_id account_id seniority`,
      number: 'extrapolated_email_confidence',
      boolean: 'revealed_for_current_team is_likely_to_engage show_intent',
      strings: 'departments subdepartments functions',
      object: 'contact organization account',
      objects: 'employment_history',
      unseen: 'intent_strength',
    },
  },
  Contact: {
    schema: contactSchema,
    fields: {
      string: `id person_id account_id organization_id creator_id contact_stage_id first_name last_name name title
        headline
        organization_name email email_status email_true_status present_raw_address sanitized_phone proflink_url source
        original_source source_display_name existence_level time_zone created_at updated_at`,
      number: 'extrapolated_email_confidence',
      boolean: `has_pending_email_arcgate_request has_email_arcgate_request email_from_customer
        updated_email_true_status
        free_domain is_likely_to_engage`,
      object: 'typed_custom_fields',
      objects: `contact_roles emailer_campaign_ids label_ids contact_rule_config_statuses contact_emails phone_numbers`,
      unseen: `owner_id email_needs_tickling photo_url proflink_uid crmx_id crmx_lead_id crmx_contact_id crmx_account_id
        crm_owner_id direct_dial_status direct_dial_enrichment_failed_at email_source last_activity_date crmy_vid
        crmy_company_id crm_id merged_crm_ids queued_for_crm_push suggested_from_rule_engine_config_id
        email_unsubscribed
        custom_field_errors crm_record_url email_status_unavailable_reason account_phone_note`,
    },
  },
  Organization: {
    schema: organizationSchema,
    fields: {
      string: `id name website_url proflink_url microblog_url socialnet_url logo_url primary_domain proflink_uid
        annual_revenue_printed total_funding_printed industry industry_tag_id raw_address street_address city state
        postal_code country seo_description short_description latest_funding_round_date latest_funding_stage
        org_chart_sector`,
      number: `traffic_ranking founded_year estimated_num_employees retail_location_count num_suborganizations
        annual_revenue total_funding`,
      boolean: 'snippets_loaded org_chart_removed org_chart_show_department_filter',
      strings: `languages secondary_industries industries keywords technology_names org_chart_root_people_ids`,
      object: 'primary_phone industry_tag_hash',
      objects: 'suborganizations funding_events current_technologies',
      unseen: `blog_url startupnet_url companydb_url phone publicly_traded_symbol publicly_traded_exchange
        owned_by_organization_id`,
    },
  },
  Account: {
    schema: accountSchema,
    fields: {
      string: `id name website_url proflink_url microblog_url socialnet_url logo_url primary_domain domain proflink_uid
        team_id organization_id source original_source created_at phone phone_status sanitized_phone existence_level
        modality source_display_name crmx_id crmx_record_url crm_record_url crm_owner_id owner_id`,
      number: 'traffic_ranking founded_year',
      strings: 'languages label_ids account_playbook_statuses',
      object: 'primary_phone typed_custom_fields',
      objects: 'account_rule_config_statuses',
      unseen: `blog_url startupnet_url companydb_url publicly_traded_symbol publicly_traded_exchange account_stage_id
        creator_id crmy_id parent_account_id custom_field_errors`,
    },
  },
};

/** Fields inside of the lists of a person and a contact. */
const employment = `_id id key current start_date end_date title organization_name organization_id created_at
  updated_at degree
  description emails grade_level kind major raw_address`;
const contactEmail = `email email_md5 email_sha256 email_status position free_domain email_source email_from_customer
  extrapolated_email_confidence`;

const examples: Record<string, unknown> = {
  string: 'text',
  number: 7,
  boolean: false,
  strings: ['text'],
  object: {},
  objects: [{}],
  unseen: 'whatever it will be',
};

const words = (list: string): string[] => list.trim().split(/\s+/);

/** What tells who a person is: another type there is an error, everywhere else it reads as missing. */
const read: Record<string, readonly string[]> = {
  Person: words('id first_name last_name name proflink_url email'),
};

describe.each(Object.entries(documented))('the schema of %s', (name, { schema, fields }) => {
  const all = Object.entries(fields).flatMap(([type, list]) =>
    words(list).map((field) => [field, type] as const),
  );

  it.each(all)('the schema keeps %s, documented as %s', (field, type) => {
    expect(schema.parse({ [field]: examples[type] })).toMatchObject({ [field]: examples[type] });
  });

  it('the schema accepts null in every field, and a record without fields', () => {
    const nulls = Object.fromEntries(all.map(([field]) => [field, null]));
    expect(schema.parse(nulls)).toEqual(nulls);
    expect(schema.safeParse({}).success).toBe(true);
  });

  it.each(all.filter(([, type]) => type !== 'unseen'))(
    'the schema reads a %s of another type as described',
    (field) => {
      const parsed = schema.safeParse({ [field]: Symbol('no JSON type') });
      const verdict = parsed.success ? (parsed.data as Record<string, unknown>)[field] : 'error';
      expect(verdict).toBe(read[name]?.includes(field) ? 'error' : undefined);
    },
  );

  it('the schema lets fields pass that the document does not name', () => {
    expect(schema.parse({ brand_new: { deep: [1] } })).toEqual({ brand_new: { deep: [1] } });
  });
});

describe('lists inside of records', () => {
  it.each([
    ['employment_history', personSchema, words(employment)],
    ['contact_emails', contactSchema, words(contactEmail)],
  ])('a list inside of %s: every documented field may be null', (list, schema: z.ZodType, fields) => {
    const entry = Object.fromEntries(fields.map((field) => [field, null]));
    expect(schema.parse({ [list]: [entry] })).toEqual({ [list]: [entry] });
  });

  it.each<[string, z.ZodType, Record<string, unknown>]>([
    [
      'phone_numbers',
      contactSchema,
      {
        raw_number: '(555) 010-0123',
        sanitized_number: '+15550100123',
        position: 0,
        status: 'valid_number',
        type: null,
        dnc_status: null,
        dnc_other_info: null,
        dialer_flags: {
          country_name: 'Norway',
          country_enabled: true,
          high_risk_calling_enabled: false,
          potential_high_risk_number: false,
        },
      },
    ],
    [
      'funding_events',
      organizationSchema,
      {
        id: 'f1',
        date: '2026-01-02T00:00:00.000Z',
        news_url: null,
        type: 'Series A',
        investors: 'One, Two',
        amount: '12M',
        currency: '€',
      },
    ],
    ['current_technologies', organizationSchema, { uid: 't1', name: 'Tool', category: 'Tools' }],
    [
      'account_rule_config_statuses',
      accountSchema,
      {
        _id: 'r1',
        id: 'r1',
        key: 'r1',
        rule_action_config_id: 'a1',
        rule_config_id: 'c1',
        status_cd: 'done',
        created_at: null,
        updated_at: null,
      },
    ],
  ])('a list inside of %s: every documented field is kept as it came', (list, schema, entry) => {
    expect(schema.parse({ [list]: [entry] })).toEqual({ [list]: [entry] });
  });
});
