import type { Generated } from 'kysely';
import type { Timestamp } from './column-types.ts';

/** The last lookup of an identity: while the lookup is fresh, no run pays for the person again. */
export interface LookupHistoryTable {
  identity_key: string;
  field_group: string;
  outcome: string;
  asked_at: Timestamp;
  run_id: string;
  /** Which service was asked: what one answered says nothing of another. */
  service: Generated<string>;
}

export interface PeopleTables {
  lookup_history: LookupHistoryTable;
}
