import type { StagedRow } from './read-row.ts';

/** Columns of `enrichment.run_rows` in the order in which `copyLine` writes them. */
export const copyColumns = [
  'run_id',
  'row_number',
  'contact_id',
  'outcome',
  'reason',
  'raw',
  'person_id',
  'email',
  'other_emails',
  'hashed_email',
  'profile_url',
  'first_name',
  'last_name',
  'name',
  'organization_name',
  'domain',
  'opted_out',
  'keys',
].join(', ');

/** One line of PostgreSQL's COPY text format. */
export function copyLine(runId: string, row: StagedRow): string {
  const { identity } = row;
  return (
    `${text(runId)}\t${row.rowNumber}\t${text(row.contactId)}\t${text(row.outcome)}\t${text(row.reason)}\t` +
    `${json(row.cells)}\t${text(identity.personId)}\t${text(identity.email)}\t${array(identity.otherEmails)}\t` +
    `${text(identity.hashedEmail)}\t${text(identity.profileUrl)}\t${text(identity.firstName)}\t${text(identity.lastName)}\t` +
    `${text(identity.name)}\t${text(identity.organizationName)}\t${text(identity.domain)}\t` +
    `${row.optedOut ? 't' : 'f'}\t${array(row.keys)}\n`
  );
}

const special = /[\\\n\r\t\0]/;
const escapes: Readonly<Record<string, string>> = {
  '\\': '\\\\',
  '\n': '\\n',
  '\r': '\\r',
  '\t': '\\t',
  // Text cannot hold a NUL in PostgreSQL.
  '\0': '',
};

function text(value: string | undefined): string {
  if (value === undefined) return '\\N';
  return special.test(value) ? value.replaceAll(/[\\\n\r\t\0]/g, (character) => escapes[character]!) : value;
}

/** JSON text escapes all control characters and lone surrogates itself; only its backslashes are left to escape. */
function json(cells: readonly string[]): string {
  const value = JSON.stringify(cells);
  return value.includes('\\') ? value.replaceAll('\\', '\\\\') : value;
}

function array(values: readonly string[] | undefined): string {
  if (values === undefined) return '\\N';
  if (values.length === 0) return '{}';
  return text(`{${values.map(element).join(',')}}`);
}

function element(value: string): string {
  return `"${/["\\]/.test(value) ? value.replaceAll(/["\\]/g, '\\$&') : value}"`;
}
