import { z } from 'zod';
import { list, map, number, text, texts, unseen } from './field.ts';

export interface AccountRuleConfigStatus {
  readonly _id?: string | null;
  readonly id?: string | null;
  readonly key?: string | null;
  readonly rule_action_config_id?: string | null;
  readonly rule_config_id?: string | null;
  readonly status_cd?: string | null;
  readonly created_at?: unknown;
  readonly updated_at?: unknown;
}

/** A company that the team has saved. Bulk matches contain it. */
export const accountSchema = z.looseObject({
  id: text,
  name: text,
  website_url: text,
  proflink_url: text,
  microblog_url: text,
  socialnet_url: text,
  logo_url: text,
  primary_domain: text,
  domain: text,
  proflink_uid: text,
  team_id: text,
  organization_id: text,
  source: text,
  original_source: text,
  created_at: text,
  phone: text,
  phone_status: text,
  sanitized_phone: text,
  existence_level: text,
  modality: text,
  source_display_name: text,
  crmx_id: text,
  crmx_record_url: text,
  crm_record_url: text,
  crm_owner_id: text,
  owner_id: text,
  blog_url: unseen,
  startupnet_url: unseen,
  companydb_url: unseen,
  publicly_traded_symbol: unseen,
  publicly_traded_exchange: unseen,
  account_stage_id: unseen,
  creator_id: unseen,
  crmy_id: unseen,
  parent_account_id: unseen,
  custom_field_errors: unseen,
  primary_phone: map(),
  typed_custom_fields: map(),
  languages: texts,
  label_ids: texts,
  account_playbook_statuses: list(),
  traffic_ranking: number,
  founded_year: number,
  account_rule_config_statuses: list<AccountRuleConfigStatus>(),
});
