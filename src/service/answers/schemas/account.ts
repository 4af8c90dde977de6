import { z } from 'zod';
import { companyFields } from './company.ts';
import { list, map, text, texts, unseen } from './field.ts';

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
  ...companyFields,
  domain: text,
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
  account_stage_id: unseen,
  creator_id: unseen,
  crmy_id: unseen,
  parent_account_id: unseen,
  custom_field_errors: unseen,
  typed_custom_fields: map(),
  label_ids: texts,
  account_playbook_statuses: list(),
  account_rule_config_statuses: list<AccountRuleConfigStatus>(),
});
