import { escapeLiteral } from 'pg';
import { to as copyTo } from 'pg-copy-streams';
import type { Readable } from 'node:stream';
import type { Warehouse } from '../db/database.ts';

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

/** Which contacts are exported; an absent condition excludes none. */
export interface ContactChoice {
  readonly source?: string | undefined;
  /** Contacts that this run was the last to write. */
  readonly runId?: string | undefined;
  /** Contacts that were asked for since. */
  readonly since?: Date | undefined;
}

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

/** COPY takes no parameters: values are quoted by the driver, and columns are names of ours. */
function statementOf(choice: ContactChoice, columns: readonly ExportedColumn[]): string {
  const conditions = [
    ...(choice.source === undefined ? [] : [`c.source = ${escapeLiteral(choice.source)}`]),
    ...(choice.runId === undefined ? [] : [`c.run_id = ${escapeLiteral(choice.runId)}`]),
    ...(choice.since === undefined
      ? []
      : [`c.enriched_at >= ${escapeLiteral(choice.since.toISOString())}::timestamptz`]),
    `not exists (select 1 from suppression_entries) or not exists (${isListedContact})`,
  ];
  return `select ${columns.map(exported).join(', ')} from enriched_contacts c
    where ${conditions.map((condition) => `(${condition})`).join(' and ')} order by c.source, c.contact_id`;
}

/**
 * Over `c`, a contact: its entries on the suppression list, by its columns and by what its row of the export says of
 * it, where that is still kept.
 */
const isListedContact = `
  select 1 from unnest((select r.keys from run_rows r where r.run_id = c.run_id and r.row_number = c.row_number)
      || array['email:' || c.email, 'person:' || c.person_id, 'profile:' || c.profile_url]) as identity_key,
    suppression_hashes(identity_key) as form (key_hash) join suppressed_keys s using (key_hash)
  union all
  select 1 from suppression_entries e, unnest(array[split_part(c.email, '@', 2), c.organization_domain]) as theirs (domain)
  where e.kind = 'domain' and (theirs.domain = e.domain or theirs.domain like '%.' || e.domain)`;

function exported(column: ExportedColumn): string {
  if (column === 'enriched_at') return `to_char(c.enriched_at, 'YYYY-MM-DD"T"HH24:MI:SS"Z"') as enriched_at`;
  if (column === 'organization_employees') return 'c.organization_employees';
  const text = column === 'departments' ? `array_to_string(c.departments, '; ')` : `c.${column}`;
  return `case when ${text} ~ '${formula}' and ${text} !~ '${phoneNumber}' then '''' || ${text} else ${text} end as ${column}`;
}
