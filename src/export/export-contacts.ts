import { to as copyTo } from 'pg-copy-streams';
import type { Readable } from 'node:stream';
import type { Warehouse } from '../db/database.ts';
import { isSelected, type ContactChoice } from './contact-choice.ts';

/** The exported columns of `enriched_contacts`, in order. */
export const exportedColumns = [
  'source',
  'contact_id',
  'first_name',
  'last_name',
  'email',
  'email_status',
  'phone',
  'title',
  'headline',
  'seniority',
  'departments',
  'city',
  'state',
  'country',
  'organization_name',
  'organization_domain',
  'organization_industry',
  'organization_employees',
  'linkedin_url',
  'person_id',
  'organization_id',
  'enriched_at',
  'run_id',
] as const;

export type ExportedColumn = (typeof exportedColumns)[number];

/**
 * Cells that a spreadsheet would calculate. An international phone number also begins with `+` and is
 * harmless.
 */
const formula = String.raw`^[=+\-@\t\r]`;
const phoneNumber = String.raw`^\+[0-9][0-9 ().-]*$`;

/**
 * Exports contacts as CSV (RFC 4180, UTF-8, with a header), in the order of their keys, with bounded memory.
 * Suppressed people are left out. A cell that a spreadsheet would read as a formula gets a leading
 * apostrophe.
 *
 * @param take receives the bytes; its error ends the export
 * @returns the number of contacts; undefined if `take` did not read all bytes
 */
export async function exportContacts(
  { pool }: Warehouse,
  choice: ContactChoice,
  columns: readonly ExportedColumn[],
  take: (rows: Readable) => Promise<void>,
): Promise<number | undefined> {
  const client = await pool.connect();
  let failed = true;
  try {
    const rows = client.query(
      copyTo(`copy (${statementOf(choice, columns)}) to stdout with (format csv, header true)`),
    );
    await take(rows);
    // The reader (such as `head`) stopped early, so rows are still being sent.
    if (!rows.readableEnded) return undefined;
    failed = false;
    return rows.rowCount;
  } finally {
    // A connection within a COPY cannot be reused.
    client.release(failed);
  }
}

/** The columns are constants, so they need no quoting. */
function statementOf(choice: ContactChoice, columns: readonly ExportedColumn[]): string {
  return `select ${columns.map(exported).join(', ')}
    from enriched_contacts c
    where ${isSelected(choice)}
    order by c.source, c.contact_id`;
}

function exported(column: ExportedColumn): string {
  if (column === 'enriched_at') return `to_char(c.enriched_at, 'YYYY-MM-DD"T"HH24:MI:SS"Z"') as enriched_at`;
  if (column === 'organization_employees') return 'c.organization_employees';
  const text = column === 'departments' ? `array_to_string(c.departments, '; ')` : `c.${column}`;
  const isFormula = `${text} ~ '${formula}' and ${text} !~ '${phoneNumber}'`;
  return `case when ${isFormula} then '''' || ${text} else ${text} end as ${column}`;
}
