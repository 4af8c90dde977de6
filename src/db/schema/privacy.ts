import type { GeneratedTimestamp, Json } from './column-types.ts';

/** Roles with the rights of an analyst. Every migration updates these rights. */
export interface AnalystRolesTable {
  role_name: string;
}

/** People whom no call may ask for, by the hashes of their keys. */
export interface SuppressionEntriesTable {
  /** SHA-256 of the identity key. */
  entry_id: Buffer;
  kind: 'email' | 'profile' | 'person' | 'hash' | 'name' | 'domain' | 'record';
  /** The domain of an entry of that kind as plain text: no personal data, and needed to match subdomains. */
  domain: string | null;
  reason: string | null;
  added_by: string;
  added_at: GeneratedTimestamp;
}

/** The hashes by which an entry is found. */
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
  /** Number of removed entries, by kind. */
  removed: Json<Record<string, number>>;
}

export interface PrivacyTables {
  analyst_roles: AnalystRolesTable;
  suppression_entries: SuppressionEntriesTable;
  suppressed_keys: SuppressedKeysTable;
  erasures: ErasuresTable;
}
