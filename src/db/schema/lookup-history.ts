import type { Generated } from 'kysely';
import type { Timestamp } from './column-types.ts';

/** The last lookup of an identity: while the lookup is fresh, no run pays for the person again. */
export interface LookupHistoryTable {
  asked_at: Timestamp;
  /** Number of the run that asked, in `lookup_runs`, which has the service. */
  lookup_run: number;
  /** `key_hash` of the identity key. */
  key_hash: string;
  field_group: string;
  /** Whether the service found the person or the phone. Misses have their own freshness. */
  found: boolean;
}

/** Numbers of runs in `lookup_history`. */
export interface LookupRunsTable {
  lookup_run: Generated<number>;
  run_id: string;
  service: string;
}

export interface LookupHistoryTables {
  lookup_history: LookupHistoryTable;
  lookup_runs: LookupRunsTable;
}
