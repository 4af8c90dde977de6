import { createHash } from 'node:crypto';
import { crmExports, importers, type CrmExport } from '../../domain/crm/crm.ts';
import { displayForm } from '../../domain/identity/values/normalise.ts';
import { UsageProblem } from '../../domain/problem.ts';
import { headerKey, tidyHeader } from '../../domain/text/header-name.ts';
import { meansNoValue, type ExportSample } from './fields.ts';
import { commonHeaders } from './known-headers.ts';

/** Number of typical column names that show a CRM. A single one may be a coincidence. */
const enoughOwnNames = 2;

/** Recognises the CRM that wrote a file. Undefined if uncertain: a wrong CRM would mix ids of two sources. */
export function recogniseExport(first: ExportSample): CrmExport | undefined {
  const names = first.header.map(tidyHeader);
  const found = crmExports.filter((known) => {
    const ids = idsOf(known, first);
    return ids !== 'of another program' && (bearsSignature(known, names) || areDistinctive(known, ids));
  });
  return found.length === 1 ? found[0] : undefined;
}

/** Warns if `--source` names another CRM than header and record ids show. */
export function sourceContradictionWarnings(
  named: string | undefined,
  recognised: CrmExport | undefined,
): string[] {
  const isCrm = crmExports.some(({ source }) => source === named);
  if (!isCrm || recognised === undefined || recognised.source === named) return [];
  return [
    `the source is named "${named}", but the file is recognised as an export of ${recognised.source}: its record ids ` +
      `are filed under "${named}", and can name other people there; without source or --source the file is read as ` +
      recognised.source,
  ];
}

/** True if a header has all columns of a signature, or two names that only this CRM uses. */
function bearsSignature({ signatures, ownHeaders }: CrmExport, names: readonly string[]): boolean {
  const isPresent = (alternatives: readonly string[]): boolean =>
    alternatives.some((pattern) => names.some((name) => fits(name, pattern)));
  return (
    signatures.some((signature) => signature.every(isPresent)) ||
    names.filter((name) => ownHeaders.some((pattern) => fits(name, pattern))).length >= enoughOwnNames
  );
}

/** Compares a name with a pattern: `…` at its beginning or end is any text. */
function fits(name: string, pattern: string): boolean {
  if (pattern.endsWith('…')) return name.startsWith(pattern.slice(0, -1));
  return pattern.startsWith('…') ? name.endsWith(pattern.slice(1)) : name === pattern;
}

/** Returns the record ids of the first rows, or that another program made them. Empty without a filled column. */
function idsOf(
  { fields, exportedId }: CrmExport,
  { header, rows }: ExportSample,
): readonly string[] | 'of another program' {
  if (fields.contact_id === undefined) return [];
  const keys = header.map(headerKey);
  const columnOf = (names: readonly string[] = []): number | undefined =>
    names.map((name) => keys.indexOf(headerKey(name))).find((column) => column !== -1);
  const column = columnOf(fields.contact_id);
  if (column === undefined)
    return columnOf(commonHeaders.contact_id) === undefined ? [] : 'of another program';
  const ids = rows.map((row) => idText(row[column] ?? '')).filter((id) => id !== '');
  // A single damaged id does not show another program.
  const areForeign = exportedId !== undefined && ids.length > 0 && !ids.some((id) => exportedId.test(id));
  return areForeign ? 'of another program' : ids;
}

/** True if all ids have a form that only this CRM uses. */
function areDistinctive({ distinctiveId }: CrmExport, ids: readonly string[]): boolean {
  return distinctiveId !== undefined && ids.length > 0 && ids.every((id) => distinctiveId.test(id));
}

/** Keys of columns that only `enrich export` writes. */
const ownColumns = ['emailstatus', 'organizationdomain', 'personid', 'enrichedat', 'runid'];

/**
 * Refuses a file of `enrich export`: contacts of several CRMs can have the same id, and the apostrophe before an
 * escaped formula would become data.
 *
 * @throws Problem `export.own-file`
 */
export function refuseOwnFile(path: string, header: readonly string[]): void {
  const keys = header.map(headerKey);
  const isOwn = keys[0] === 'source' && keys.includes('contactid');
  if (!isOwn || !ownColumns.some((name) => keys.includes(name))) return;
  const what = 'enrich export wrote this file, and the warehouse has its contacts';
  throw new UsageProblem('export.own-file', what, {
    where: `${path}, header`,
    next:
      'use an export of the CRM; or choose contacts of the warehouse: --source NAME --query "select … from ' +
      'enrichment.enriched_contacts where …"',
  });
}

/** Maximum length of a record id, which must fit into an index entry. Ids of CRMs are far shorter. */
const longestId = 500;

/** Returns a contact's record id (`cell`), else a hash of its first key (no personal data), else an id of the row. */
export function contactIdOf(
  source: string,
  cell: string,
  keys: readonly string[],
  rowNumber: number,
): string {
  const id = idText(cell);
  if (id !== '' && id.length <= longestId && !meansNoValue(id)) return canonicalId(source, id);
  const key = keys[0];
  return key === undefined
    ? `row:${rowNumber}`
    : `key:${createHash('sha256').update(key).digest('hex').slice(0, 32)}`;
}

/** Returns one spelling of an id. Some CRMs write the same id in two ways. */
function canonicalId(source: string, id: string): string {
  if (source === 'salesforce' && /^[A-Za-z0-9]{15}$/.test(id)) return id + salesforceSuffix(id);
  if (source === 'dynamics365' && importers.dynamics.acceptedId.test(id)) return id.toLowerCase();
  const { idPrefix } = Object.values(importers).find((each) => each.source === source) ?? {};
  return idPrefix !== undefined && id.startsWith(idPrefix) ? id.slice(idPrefix.length) : id;
}

/** Computes the end of an 18-character Salesforce id. Each character tells which of five characters are capitals. */
function salesforceSuffix(id: string): string {
  const capitals = id.split('').map((character) => Number(/[A-Z]/.test(character)));
  return [0, 5, 10]
    .map((start) => capitals.slice(start, start + 5).reduce((sum, bit, place) => sum + (bit << place), 0))
    .map((number) => 'ABCDEFGHIJKLMNOPQRSTUVWXYZ012345'[number]!)
    .join('');
}

/** Returns an id as its CRM writes it. Data tools write `4001` as `4001.0` if other cells of the column are empty. */
function idText(cell: string): string {
  return displayForm(cell).replace(/^(\d+)\.0$/, '$1');
}
