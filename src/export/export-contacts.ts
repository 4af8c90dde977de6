import { to as copyTo } from 'pg-copy-streams';
import type { Readable } from 'node:stream';
import type { Warehouse } from '../db/database.ts';
import { isChosen, type ContactChoice } from './contact-choice.ts';

/** The columns of `enriched_contacts` that are exported, in this order. */
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
 * A cell that a spreadsheet would calculate: it is a formula that begins with one of these. An international phone
 * number begins with one as well, and is harmless.
 */
const formula = String.raw`^[=+\-@\t\r]`;
const phoneNumber = String.raw`^\+[0-9][0-9 ().-]*$`;

/**
 * Reads contacts as CSV (RFC 4180, UTF-8, a header), in the order of their keys, as the database sends them: memory
 * does not grow with their number. People on the suppression list are left out. A cell that a spreadsheet would take
 * for a formula gets an apostrophe in front.
 *
 * @param take gets the bytes; what it throws ends the export
 * @returns how many contacts there were; undefined where `take` has not read them all
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
    // Whoever reads has had enough (such as `head`): then the rows are still being sent.
    if (!rows.readableEnded) return undefined;
    failed = false;
    return rows.rowCount;
  } finally {
    // In the middle of a COPY a connection is of no use to anybody else.
    client.release(failed);
  }
}

/** Columns are names of ours. */
function statementOf(choice: ContactChoice, columns: readonly ExportedColumn[]): string {
  return `select ${columns.map(exported).join(', ')}
    from enriched_contacts c
    where ${isChosen(choice)}
    order by c.source, c.contact_id`;
}

function exported(column: ExportedColumn): string {
  if (column === 'enriched_at') return `to_char(c.enriched_at, 'YYYY-MM-DD"T"HH24:MI:SS"Z"') as enriched_at`;
  if (column === 'organization_employees') return 'c.organization_employees';
  const text = column === 'departments' ? `array_to_string(c.departments, '; ')` : `c.${column}`;
  return `case when ${text} ~ '${formula}' and ${text} !~ '${phoneNumber}' then '''' || ${text} else ${text} end as ${column}`;
}
