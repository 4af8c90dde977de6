import type { ContactColumns } from '../../domain/warehouse/person-columns.ts';
import type { Generated } from 'kysely';
import type { Timestamp, GeneratedTimestamp } from './column-types.ts';

export interface EnrichedContactsView extends ContactColumns {
  source: string;
  contact_id: string;
  enriched_at: Timestamp;
  attempt_id: string;
  run_id: string;
  row_number: number;
  service: string;
  person_key: string;
}

export interface ContactsTable {
  source: string;
  contact_id: string;
  service: string;
  person_key: string;
  person_keys: string[] | null;
  match_id: string;
  evidence: string;
  asked: boolean;
  run_id: string;
  row_number: number;
}

export interface ChangesTable {
  change_id: Generated<string>;
  transaction_id: Generated<string>;
  operation: 'upsert' | 'delete';
  source: string;
  contact_id: string;
  field_groups: string[];
  changed_at: GeneratedTimestamp;
}

export interface ChangesPrunedTable {
  singleton: Generated<boolean>;
  pruned_transaction_id: string;
  pruned_change_id: string;
}

export interface PeopleProjectionsTables {
  enriched_contacts: EnrichedContactsView;
  contacts: ContactsTable;
  changes: ChangesTable;
  changes_pruned: ChangesPrunedTable;
}
