import { createReadStream } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { decideField, type FieldDecision, type FieldPolicy } from '../../domain/crm/field-policy.ts';
import { isWritten, keepPlacesTogether, type DecidedField } from '../../domain/crm/field-policy.ts';
import {
  headersOfColumn,
  importFields,
  type ImportColumn,
  type Importer,
  type ImportField,
} from '../../domain/crm/crm.ts';
import { headerKey } from '../../domain/text/header-name.ts';
import { csvLine, PartWriter, spreadsheetLine, type PartOptions, type WrittenPart } from './part-writer.ts';
import type { ContactToImport } from './read-contacts-to-import.ts';

/** What was written, under the names of the manifest. */
export interface WrittenImport {
  /** Number of contacts; each has one decision for each field of the importer. */
  readonly contacts: number;
  /** Contacts whose id is not the CRM's record id, which are in no file. */
  readonly without_record_id: number;
  /** Contacts whose newest export says that they opted out of processing, which are in no file. */
  readonly opted_out: number;
  /** Contacts without an update, because the cells of their newest export were removed. */
  readonly without_cells: number;
  /** Contacts with a field of the policy overwrite-older, which acts as fill: their modified time is not known. */
  readonly without_modified_time: number;
  /** The CRM's names of fields that no contact's newest export has a column for: they are in no file. */
  readonly missing_columns: readonly string[];
  readonly decisions: Readonly<Partial<Record<FieldDecision, number>>>;
  readonly parts: readonly (WrittenPart & { readonly columns: readonly string[] })[];
  readonly conflicts: WrittenPart | undefined;
  readonly job_changes: WrittenPart | undefined;
}

/** A field with the keys of its headers in exports. */
interface FieldOfImport {
  readonly field: ImportField;
  readonly column: ImportColumn;
  readonly keys: readonly string[];
}

/** What an import decides by. */
interface ImportRules {
  readonly importer: Importer;
  readonly policies: Readonly<Record<ImportField, FieldPolicy>>;
  readonly fields: readonly FieldOfImport[];
}

/** A decision about a field of a contact. */
interface DecidedColumn extends DecidedField {
  readonly column: ImportColumn;
}

const reportHeader = csvLine(
  'contact_id,field,crm_value,our_value,observed_at,run_id,policy,decision'.split(','),
);
const jobHeader = csvLine('contact_id,from_organization,to_organization,to_title,detected_at'.split(','));

/**
 * Writes import files for a CRM. Where a blank cell erases the field, each set of changed columns has its own files.
 * The same contacts in the same order give the same bytes.
 *
 * @param contacts in the order of their ids
 * @param folder empty
 */
export async function writeImportFiles(
  contacts: AsyncIterable<ContactToImport>,
  importer: Importer,
  policies: Readonly<Record<ImportField, FieldPolicy>>,
  folder: string,
): Promise<WrittenImport> {
  const files = { folder, lineEnd: importer.lineEnd, byteOrderMark: importer.byteOrderMark };
  const report = new PartWriter({ ...files, name: 'conflicts', header: reportHeader });
  const moves = new PartWriter({ ...files, name: 'job-changes', header: jobHeader });
  const updates = new UpdateFiles(importer, files);
  const counts = {
    contacts: 0,
    without_record_id: 0,
    opted_out: 0,
    without_cells: 0,
    without_modified_time: 0,
  };
  const decisions: Partial<Record<FieldDecision, number>> = {};
  const fields = fieldsOf(importer);
  const rules = { importer, policies, fields };
  const modifiedKeys = importer.modifiedHeaders.map(headerKey);
  const needsModifiedTime = fields.some(({ field }) => policies[field] === 'overwrite-older');
  const hasOtherRecordId = createRecordIdCheck(importer);
  const missing = new Set(fields.map(({ column }) => column));

  for await (const contact of contacts) {
    if (contact.optedOut) {
      counts.opted_out += 1;
      continue;
    }
    if (!importer.idPattern.test(contact.contactId) || hasOtherRecordId(contact)) {
      counts.without_record_id += 1;
      continue;
    }
    counts.contacts += 1;
    const modifiedAt = modifiedAtOf(contact, modifiedKeys);
    if (contact.exported.length === 0) counts.without_cells += 1;
    else if (needsModifiedTime && modifiedAt === null) counts.without_modified_time += 1;
    const decided = keepPlacesTogether(fields.map((field) => decide(contact, field, modifiedAt, rules)));
    for (const each of decided) {
      if (each.theirs !== undefined) missing.delete(each.column);
      decisions[each.decision] = (decisions[each.decision] ?? 0) + 1;
      await report.write(reportLine(contact, each, policies[each.field]));
    }
    const changes = decided.filter(isWritten);
    if (contact.jobChange) await moves.write(spreadsheetLine(moveOf(contact.contactId, contact.jobChange)));
    if (changes.length > 0) await updates.write(contact, changes);
  }

  const parts = await updates.end();
  const [conflicts] = await report.end();
  const [jobChanges] = await moves.end();
  const hasCells = counts.contacts > counts.without_cells;
  return {
    ...counts,
    missing_columns: hasCells ? [...missing].map(({ header }) => header) : [],
    decisions,
    parts,
    conflicts,
    job_changes: jobChanges,
  };
}

/** A contact's changed cells, until it is known which columns the file has. */
interface DraftLine {
  readonly id: string;
  readonly cells: Readonly<Partial<Record<ImportField, string>>>;
}

/**
 * The files to import, in parts of the size that the importer takes. If the importer keeps the field of a blank cell,
 * one file has the changed columns of all contacts. Otherwise each set of changed columns has its own file.
 */
class UpdateFiles {
  readonly #importer: Importer;
  readonly #files: Pick<PartOptions, 'folder' | 'lineEnd' | 'byteOrderMark'>;
  readonly #writers = new Map<string, { readonly columns: readonly string[]; readonly writer: PartWriter }>();
  readonly #changed = new Set<ImportField>();
  readonly #draft: PartWriter;

  constructor(importer: Importer, files: Pick<PartOptions, 'folder' | 'lineEnd' | 'byteOrderMark'>) {
    this.#importer = importer;
    this.#files = files;
    const { folder } = files;
    this.#draft = new PartWriter({
      folder,
      lineEnd: '\n',
      byteOrderMark: false,
      name: 'draft',
      header: undefined,
    });
  }

  /** @param changes decisions that give the field our value */
  async write(contact: ContactToImport, changes: readonly DecidedColumn[]): Promise<void> {
    const id = recordIdOf(contact, this.#importer);
    const fields = changes.map(({ field }) => field);
    if (this.#importer.blankCells === 'keep') {
      for (const field of fields) this.#changed.add(field);
      const cells = Object.fromEntries(changes.map(({ field, ours }) => [field, ours!]));
      await this.#draft.write(jsonLine({ id, cells }));
      return;
    }
    const name = `update-${fields.map((field) => field.replaceAll('_', '-')).join('+')}`;
    await this.#writerOf(name, fields).write(csvLine([id, ...changes.map(({ ours }) => ours!)]));
  }

  /** @returns the parts, in the order of their names */
  async end(): Promise<WrittenImport['parts']> {
    const [draft] = await this.#draft.end();
    if (draft !== undefined) await this.#writeDraft(join(this.#files.folder, draft.file));
    const parts = [];
    for (const { columns, writer } of [...this.#writers.entries()].sort(byName).map(([, each]) => each))
      for (const part of await writer.end()) parts.push({ ...part, columns });
    return parts;
  }

  async #writeDraft(path: string): Promise<void> {
    const fields = importFields.filter((field) => this.#changed.has(field));
    const writer = this.#writerOf('update', fields);
    for await (const line of createInterface({ input: createReadStream(path, 'utf8') })) {
      const { id, cells } = JSON.parse(line) as DraftLine;
      await writer.write(csvLine([id, ...fields.map((field) => cells[field] ?? '')]));
    }
    await rm(path);
  }

  #writerOf(name: string, fields: readonly ImportField[]): PartWriter {
    const known = this.#writers.get(name);
    if (known) return known.writer;
    const { idHeader, mostRows: rows, mostBytes: bytes, columns: all } = this.#importer;
    const columns = [idHeader, ...fields.map((field) => all[field]!.header)];
    const most = { rows, bytes };
    const writer = new PartWriter({ ...this.#files, name, header: csvLine(columns), most });
    this.#writers.set(name, { columns, writer });
    return writer;
  }
}

/** A record on one line: a reader of lines also ends a line at two characters that JSON leaves as they are. */
function jsonLine(line: DraftLine): string {
  return JSON.stringify(line).replaceAll('\u2028', '\\u2028').replaceAll('\u2029', '\\u2029');
}

function fieldsOf({ columns }: Importer): FieldOfImport[] {
  return importFields.flatMap((field): FieldOfImport[] => {
    const column = columns[field];
    if (column === undefined) return [];
    return [{ field, column, keys: headersOfColumn(column).map(headerKey) }];
  });
}

function decide(
  contact: ContactToImport,
  { field, column, keys }: FieldOfImport,
  modifiedAt: Date | null,
  { policies, importer }: ImportRules,
): DecidedColumn {
  const known = contact.known[field];
  const theirs = cellOf(contact, keys);
  const decision = decideField(
    field,
    policies[field],
    {
      hasCells: contact.exported.length > 0,
      theirs,
      ours: known.value,
      observedAt: known.observedAt,
      modifiedAt,
      isVerified: known.isVerified,
      isDoNotCall: known.isDoNotCall || (contact.optedOutOfCalls && phoneFields.has(field)),
      hasChangedJob: contact.jobChange !== undefined,
    },
    { column, erasingCell: importer.erasingCell },
  );
  return { field, column, decision, theirs, ours: known.value };
}

/** A line of `conflicts.csv`. */
function reportLine(
  { contactId, known }: ContactToImport,
  { field, theirs, ours, decision }: DecidedColumn,
  policy: FieldPolicy,
): string {
  const { observedAt, runId } = known[field];
  const observed = observedAt?.toISOString() ?? '';
  const values = [theirs ?? '', ours ?? '', observed, runId ?? ''];
  return spreadsheetLine([contactId, field, ...values, policy, decision]);
}

/** Whether the newest export has another record id: a mapping file has named another column as contact id. */
function createRecordIdCheck(importer: Importer): (contact: ContactToImport) => boolean {
  const { idPattern, idPrefix = '' } = importer;
  const keys = importer.idsInExports.map(headerKey);
  return (contact) => {
    const cell = cellOf(contact, keys)?.trim() ?? '';
    return idPattern.test(cell) && ![contact.contactId, idPrefix + contact.contactId].includes(cell);
  };
}

/** The record's id with the prefix that the newest export has: the importer may find no record by another spelling. */
function recordIdOf({ contactId, exported }: ContactToImport, { idPrefix }: Importer): string {
  if (idPrefix === undefined) return contactId;
  const prefixed = `${idPrefix}${contactId}`;
  const hasPrefix = exported.some((row) => [...row.values()].some((cell) => cell.trim() === prefixed));
  return hasPrefix ? prefixed : contactId;
}

const phoneFields: ReadonlySet<ImportField> = new Set(['phone', 'mobile_phone']);

/**
 * The cell of the first of these columns that the export has. Of several rows of the contact, the first that has a
 * value counts: a cell is blank only if it is blank in every row.
 */
function cellOf(contact: ContactToImport, keys: readonly string[]): string | undefined {
  const cells = cellsOf(contact, keys);
  return cells.find((cell) => cell.trim() !== '') ?? cells[0];
}

/** The cell of each row, in the first of these columns that the export has. */
function cellsOf({ exported }: ContactToImport, keys: readonly string[]): readonly string[] {
  const key = keys.find((each) => exported.some((row) => row.has(each)));
  return key === undefined ? [] : exported.map((row) => row.get(key) ?? '');
}

/** The newest time at which the CRM changed the contact; null if a row does not state one. */
function modifiedAtOf(contact: ContactToImport, keys: readonly string[]): Date | null {
  const moments = cellsOf(contact, keys).map(modifiedTime);
  const known = moments.filter((moment) => moment !== null);
  if (known.length === 0 || known.length < moments.length) return null;
  return new Date(Math.max(...known.map((moment) => moment.getTime())));
}

function moveOf(contactId: string, move: NonNullable<ContactToImport['jobChange']>): string[] {
  return [contactId, move.from, move.to, move.title, move.detectedAt.toISOString()];
}

function byName([one]: readonly [string, unknown], [other]: readonly [string, unknown]): number {
  return one < other ? -1 : 1;
}

/** Zones are at most twelve hours behind UTC. */
const longestZoneMilliseconds = 12 * 3_600_000;

/** Date, and perhaps time and zone. */
const isoTime = /^(\d{4}-\d{2}-\d{2})(?:[T ](\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?)(Z|[+-]\d{2}:?\d{2})?)?$/;

/**
 * Reads the time of a CRM's cell: an ISO time, or one whose date has points (22.11.2026). Without a zone or an hour,
 * the latest moment that it can stand for: a value that may be older than the CRM's is not written. Null for ambiguous
 * dates such as 03/04/2026.
 */
function modifiedTime(cell: string): Date | null {
  const text = cell.trim().replace(/^(\d{2})\.(\d{2})\.(\d{4})(?!\d)/, '$3-$2-$1');
  const iso = isoTime.exec(text);
  if (!iso) return null;
  const [, day, hour = '23:59:59.999', zone] = iso;
  const moment = new Date(`${day}T${hour}${zone ?? 'Z'}`);
  if (Number.isNaN(moment.getTime())) return null;
  return zone === undefined ? new Date(moment.getTime() + longestZoneMilliseconds) : moment;
}
