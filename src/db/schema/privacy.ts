import type { GeneratedTimestamp } from './column-types.ts';

export interface SuppressionEntriesTable {
  entry_id: Buffer;
  kind: 'email' | 'profile' | 'person' | 'hash' | 'name' | 'domain' | 'record';
  /** The domain of an entry of that kind as plain text: no personal data, and needed to match subdomains. */
  domain: string | null;
  reason: string | null;
  added_by: string;
  added_at: GeneratedTimestamp;
}

export interface PrivacyTables {
  suppression_entries: SuppressionEntriesTable;
}
