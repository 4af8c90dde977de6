import { z } from 'zod';
import { each, flag, list, map, text, texts, time, unseen, whole } from './fields.ts';

const fundingEvent = z.object({
  id: text,
  date: time,
  news_url: text,
  type: text,
  investors: text.meta({ description: 'comma-separated' }),
  amount: text.meta({ description: 'abbreviated' }),
  currency: text.meta({ description: 'symbol' }),
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

export const organizationSchema = z.object({
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
export const accountSchema = z.object({
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
