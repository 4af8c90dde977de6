import { z } from 'zod';
import type { Organization } from '../../../domain/identity/person.ts';
import { each, flag, list, map, number, text, unseen, type SchemaOf } from './field.ts';

/** The fields of a company that a company saved by the team has as well. */
const companyFields = {
  ...each(
    'id, name, website_url, proflink_url, microblog_url, socialnet_url, logo_url, primary_domain, proflink_uid',
    text,
  ),
  ...each('blog_url, startupnet_url, companydb_url, publicly_traded_symbol, publicly_traded_exchange', unseen),
  primary_phone: map,
  languages: list,
  ...each('traffic_ranking, founded_year', number),
};

/** A company: nine tenths of the bytes of a person. */
export const organizationSchema = z.looseObject({
  ...companyFields,
  ...each('phone, owned_by_organization_id', unseen),
  ...each('secondary_industries, suborganizations', list),
  ...each('estimated_num_employees, retail_location_count, num_suborganizations', number),
  ...each('annual_revenue, total_funding', number),
  ...each('annual_revenue_printed, total_funding_printed, industry, industry_tag_id', text),
  ...each('industries, keywords, technology_names, org_chart_root_people_ids', list),
  industry_tag_hash: map,
  ...each('snippets_loaded, org_chart_removed, org_chart_show_department_filter', flag),
  ...each('raw_address, street_address, city, state, postal_code, country', text),
  ...each('seo_description, short_description, latest_funding_round_date, latest_funding_stage', text),
  ...each('funding_events, current_technologies', list),
  org_chart_sector: text,
} satisfies SchemaOf<Organization>);

/** A company that the team has saved. Bulk matches contain it. */
export const accountSchema = z.looseObject({
  ...companyFields,
  ...each('domain, team_id, organization_id, source, original_source, created_at, phone, phone_status', text),
  ...each('sanitized_phone, existence_level, modality, source_display_name, crmx_id, crmx_record_url', text),
  ...each('crm_record_url, crm_owner_id, owner_id', text),
  ...each('account_stage_id, creator_id, crmy_id, parent_account_id, custom_field_errors', unseen),
  typed_custom_fields: map,
  ...each('label_ids, account_playbook_statuses, account_rule_config_statuses', list),
});
