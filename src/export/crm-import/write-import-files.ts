import {
  decideField,
  isWritten,
  keepLocationTogether,
  type DecidedField,
  type FieldDecision,
  type FieldPolicy,
} from '../../domain/crm/field-policy.ts';
import {
  headersOfColumn,
  importFields,
  type AccountImporter,
  type Importer,
  type ImportField,
} from '../../domain/crm/crm.ts';
import { headerKey } from '../../domain/text/header-name.ts';
import type { WrittenPart } from './import-manifest.ts';
import type { CompanyKey, ContactToImport } from './read-contacts-to-import.ts';
import { createHash } from 'node:crypto';
import { appendFileSync } from 'node:fs';
import { join } from 'node:path';
import { isFormula } from '../../domain/text/formula.ts';

const reportHeader = 'contact_id,field,crm_value,our_value,observed_at,run_id,policy,decision'.split(',');
const jobHeader = 'contact_id,from_organization,to_organization,to_title,detected_at'.split(',');

/**
 * Writes the import files: one for each set of changed columns, or one for all contacts if the importer leaves fields
 * with blank cells unchanged. Equal contacts give equal bytes.
 */
export async function writeImportFiles(
  contacts: AsyncIterable<ContactToImport>,
  importer: AccountImporter,
  policies: Readonly<Record<ImportField, FieldPolicy>>,
  folder: string,
) {
  const { lineEnd, byteOrderMark, columns, exported } = importer;
  const files = { folder, lineEnd, byteOrderMark };
  const report = createPartWriter({ ...files, name: 'conflicts', header: reportHeader });
  const moves = createPartWriter({ ...files, name: 'job-changes', header: jobHeader });
  const updates = new Map<string, { readonly columns: readonly string[]; readonly writer: PartWriter }>();
  const counts = {
    contacts: 0,
    without_record_id: 0,
    opted_out: 0,
    without_cells: 0,
    without_modified_time: 0,
  };
  const companies = new Map<string, CompanyKey>();
  const decisions: Partial<Record<FieldDecision, number>> = {};
  const fields = importFields.flatMap((field) => {
    const column = columns[field];
    return column ? [{ field, column, keys: headersOfColumn(column).map(headerKey) }] : [];
  });
  const writable = fields.flatMap(({ field }) =>
    exported.has(field) && policies[field] !== 'never' ? [field] : [],
  );
  const idKeys = importer.idsInExports.map(headerKey);
  const modifiedKeys = importer.modifiedHeaders.map(headerKey);
  const needsModifiedTime = fields.some(({ field }) => policies[field] === 'overwrite-older');

  // Writes the changes of a contact into the file of this set of columns.
  const update = (id: string, changes: readonly DecidedField[]): void => {
    const ours = new Map(changes.map((change) => [change.field, change.ours!]));
    const written = importer.blankCells === 'keep' ? writable : [...ours.keys()];
    const set = written.map((field) => field.replaceAll('_', '-')).join('+');
    const name = importer.blankCells === 'keep' ? 'update' : `update-${set}`;
    let file = updates.get(name);
    if (file === undefined) {
      const header = [importer.idHeader, ...written.map((field) => columns[field]!.header)];
      const most = { rows: importer.maxRows, bytes: importer.maxBytes };
      file = { columns: header, writer: createPartWriter({ ...files, name, header, most }) };
      updates.set(name, file);
    }
    file.writer.write(csvLine([id, ...written.map((field) => ours.get(field) ?? '')]));
  };

  for await (const contact of contacts) {
    const id = recordIdOf(contact, importer, idKeys);
    if (contact.optedOut) counts.opted_out += 1;
    else if (id === undefined) counts.without_record_id += 1;
    if (contact.optedOut || id === undefined) continue;
    counts.contacts += 1;
    if (contact.company) companies.set(JSON.stringify(contact.company), contact.company);
    const modifiedAt = modifiedAtOf(contact, modifiedKeys);
    if (contact.exported.length === 0) counts.without_cells += 1;
    else if (needsModifiedTime && modifiedAt === null) counts.without_modified_time += 1;
    const decided = keepLocationTogether(
      fields.map(({ field, column, keys }): DecidedField => {
        const known = contact.known[field];
        const theirs = cellOf(contact, keys);
        const facts = {
          ...known,
          ours: known.value,
          hasCells: contact.exported.length > 0,
          theirs,
          modifiedAt,
          isDoNotCall: known.isDoNotCall || (contact.optedOutOfCalls && phoneFields.has(field)),
          hasChangedJob: contact.jobChange !== undefined,
        };
        const decision = decideField(field, policies[field], facts, { ...importer, column });
        return { field, decision, theirs, ours: known.value };
      }),
    );
    for (const { field, decision, theirs = '', ours } of decided) {
      decisions[decision] = (decisions[decision] ?? 0) + 1;
      const { observedAt, runId } = contact.known[field];
      const source = [observedAt?.toISOString() ?? '', runId ?? ''];
      report.write(
        spreadsheetLine([contact.contactId, field, theirs, ours ?? '', ...source, policies[field], decision]),
      );
    }
    if (contact.jobChange) {
      const { from, to, title, detectedAt } = contact.jobChange;
      moves.write(spreadsheetLine([contact.contactId, from, to, title, detectedAt.toISOString()]));
    }
    const changes = decided.filter(isWritten);
    if (changes.length > 0) update(id, changes);
  }

  const byName = [...updates].sort(([one], [other]) => (one < other ? -1 : 1));
  return {
    ...counts,
    missing_columns: fields.flatMap(({ field, column }) => (exported.has(field) ? [] : [column.header])),
    decisions,
    parts: byName.flatMap(([, file]) =>
      file.writer.end().map((part) => ({ ...part, columns: file.columns })),
    ),
    conflicts: report.end()[0],
    job_changes: moves.end()[0],
    companyKeys: [...companies.values()],
  };
}

/** Returns the record id as the newest export writes it. Undefined if a mapping file took another column as the id. */
function recordIdOf(
  contact: ContactToImport,
  { acceptedId, idPrefix = '' }: Importer,
  keys: readonly string[],
): string | undefined {
  const { contactId } = contact;
  if (!acceptedId.test(contactId)) return undefined;
  const cell = cellOf(contact, keys)?.trim() ?? '';
  if (!acceptedId.test(cell)) return contactId;
  return [contactId, idPrefix + contactId].find((id) => id === cell);
}

const phoneFields: ReadonlySet<ImportField> = new Set(['phone', 'mobile_phone']);

/** Returns the cell of the first of these columns in the export. It is blank only if every row has it blank. */
function cellOf(contact: ContactToImport, keys: readonly string[]): string | undefined {
  const cells = cellsOf(contact, keys);
  return cells.find((cell) => cell.trim() !== '') ?? cells[0];
}

/** Returns the cells of the first of these columns that exists, one for each row of the contact. */
function cellsOf({ exported }: ContactToImport, keys: readonly string[]): readonly string[] {
  const key = keys.find((each) => exported.some((row) => row.has(each)));
  return key === undefined ? [] : exported.map((row) => row.get(key) ?? '');
}

/** Returns when the CRM last changed the contact. Null if a row has no readable time. */
function modifiedAtOf(contact: ContactToImport, keys: readonly string[]): Date | null {
  const moments = cellsOf(contact, keys).map(modifiedTime);
  const newest = Math.max(...moments);
  return moments.length === 0 || Number.isNaN(newest) ? null : new Date(newest);
}

/** Time zones are at most twelve hours behind UTC. */
const longestZoneMilliseconds = 12 * 3_600_000;

const isoTime = /^(\d{4}-\d{2}-\d{2})(?:[T ](\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?)(Z|[+-]\d{2}:?\d{2})?)?$/;

/**
 * Reads an ISO time or a date such as 22.11.2026. Without hour or zone, the latest possible moment counts, so that an
 * older value never replaces the CRM's. NaN for ambiguous dates such as 03/04/2026.
 */
function modifiedTime(cell: string): number {
  const text = cell.trim().replace(/^(\d{2})\.(\d{2})\.(\d{4})(?!\d)/, '$3-$2-$1');
  const [, day, hour = '23:59:59.999', zone] = isoTime.exec(text) ?? [];
  return Date.parse(`${day}T${hour}${zone ?? 'Z'}`) + (zone === undefined ? longestZoneMilliseconds : 0);
}

interface PartOptions {
  readonly folder: string;
  readonly name: string;
  readonly header: readonly string[];
  readonly lineEnd: string;
  readonly byteOrderMark: boolean;
  /** Limits of each file. Undefined: one file of any size. */
  readonly most?: { readonly rows: number; readonly bytes: number };
}

/** Bytes that a writer collects before it opens its file. */
const bufferedBytes = 256 * 1024;

export type PartWriter = ReturnType<typeof createPartWriter>;

/** Writes records into as many files as the limits require, each open only in a write: an export has many writers. */
export function createPartWriter({ folder, name, header, lineEnd, byteOrderMark, most }: PartOptions) {
  const done: WrittenPart[] = [];
  let hash = createHash('sha256');
  let rows = 0;
  let bytes = 0;
  let buffer: Buffer[] = [];
  let buffered = 0;

  const fileName = (): string =>
    most ? `${name}-${String(done.length + 1).padStart(3, '0')}.csv` : `${name}.csv`;

  function put(piece: Buffer): void {
    hash.update(piece);
    bytes += piece.length;
    buffer.push(piece);
    buffered += piece.length;
  }

  function flush(): void {
    appendFileSync(join(folder, fileName()), Buffer.concat(buffer), { mode: 0o600 });
    buffer = [];
    buffered = 0;
  }

  /** Completes the current file, if it has rows. @returns all files so far */
  function end(): readonly WrittenPart[] {
    if (rows === 0) return done;
    flush();
    done.push({ file: fileName(), rows, bytes, sha256: hash.digest('hex') });
    hash = createHash('sha256');
    rows = 0;
    bytes = 0;
    return done;
  }

  function write(line: string): void {
    const piece = Buffer.from(line + lineEnd);
    if (most && (rows >= most.rows || bytes + piece.length > most.bytes)) end();
    if (rows === 0) put(Buffer.from(`${byteOrderMark ? '\uFEFF' : ''}${csvLine(header)}${lineEnd}`));
    put(piece);
    rows += 1;
    if (buffered >= bufferedBytes) flush();
  }

  return { write, end };
}

/** Formats a record as CSV. Salesforce's Data Loader takes tabs as delimiters, so cells with tabs are quoted. */
export function csvLine(cells: readonly string[]): string {
  return cells
    .map((cell) => (/[",\t\r\n]|^\s|\s$/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell))
    .join(',');
}

/** Formats a record for spreadsheets. A cell that a spreadsheet would calculate gets a leading apostrophe. */
export function spreadsheetLine(cells: readonly string[]): string {
  return csvLine(cells.map((cell) => (isFormula(cell) ? `'${cell}` : cell)));
}
