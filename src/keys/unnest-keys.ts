import { sql, type RawBuilder } from 'kysely';
import type { ContactKey, RowKey } from './contact-key.ts';

/** SQL table of the keys of rows, with the columns `run_id` and `row_number`. */
export function unnestRows(rows: readonly RowKey[]): RawBuilder<unknown> {
  return sql`unnest(${rows.map(({ runId }) => runId)}::text[], ${rows.map(({ rowNumber }) => rowNumber)}::int[])`;
}

/** SQL table of the keys of contacts, with the columns `source` and `contact_id`. */
export function unnestContacts(contacts: readonly ContactKey[]): RawBuilder<unknown> {
  return sql`unnest(${contacts.map(({ source }) => source)}::text[],
    ${contacts.map(({ contactId }) => contactId)}::text[])`;
}
