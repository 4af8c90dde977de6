import type { GeneratedTimestamp, Json } from './column-types.ts';

/** Roles that may read what an analyst needs, and nothing else: their rights are renewed by every migration. */
export interface AnalystRolesTable {
  role_name: string;
}

/** People whom no call may ask for, by the hashes of their keys. */
export interface SuppressionEntriesTable {
  /** SHA-256 of the identity key that was put on the list. */
  entry_id: Buffer;
  kind: 'email' | 'profile' | 'person' | 'hash' | 'name' | 'domain' | 'record';
  /** Of an entry of that kind, in clear: it is no personal data, and subdomains are matched by it. */
  domain: string | null;
  reason: string | null;
  added_by: string;
  added_at: GeneratedTimestamp;
}

/** The forms under which an entry is looked up. */
export interface SuppressedKeysTable {
  key_hash: Buffer;
  entry_id: Buffer;
}

/** Records of erasures, without the person. */
export interface ErasuresTable {
  erasure_id: string;
  erased_at: GeneratedTimestamp;
  erased_by: string;
  reason: string | null;
  /** How much was removed, by table. */
  removed: Json<Record<string, number>>;
}

export interface PrivacyTables {
  analyst_roles: AnalystRolesTable;
  suppression_entries: SuppressionEntriesTable;
  suppressed_keys: SuppressedKeysTable;
  erasures: ErasuresTable;
}
