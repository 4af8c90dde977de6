import { headerKey, headerName, shownHeader } from '../../../domain/text/header-name.ts';
import { commonNames } from './common-names.ts';
import { idText } from '../rows/contact-id.ts';
import { knownExports, type KnownExport } from './known-exports.ts';
import type { FirstRows } from '../fields.ts';
import type { ExportMapping } from '../mapping/mapping-file.ts';

/** One name may be a coincidence. */
const enoughOwnNames = 2;

/**
 * Recognises the CRM that wrote a file, by its header and the record ids in the first rows.
 *
 * @returns undefined if no CRM or several could have written it, or if its record ids are those of another program:
 *   a wrong CRM would mix the record ids of two sources
 */
export function recogniseExport(first: FirstRows): KnownExport | undefined {
  const names = first.header.map(headerName);
  const found = knownExports.filter((known) => {
    const ids = idsOf(known, first);
    return ids !== 'of another program' && (bearsSignature(known, names) || areOwnIds(known, ids));
  });
  return found.length === 1 ? found[0] : undefined;
}

/** A warning if a header is of CRMs, and the record ids are not: the contacts are then of no CRM. */
export function foreignIds(first: FirstRows): string[] {
  const names = first.header.map(headerName);
  const sources = knownExports
    .filter((known) => idsOf(known, first) === 'of another program' && bearsSignature(known, names))
    .map(({ source }) => source);
  return sources.length === 0
    ? []
    : [
        `the header is that of ${[...new Set(sources)].join(' or ')}, but the record ids have another form: the ` +
          'contacts are filed under "generic"; if they are of this CRM, name it with --source',
      ];
}

/** A warning if another CRM is named than the one whose header and record ids the file has. */
export function contradictedSource(named: string | undefined, first: FirstRows): string[] {
  if (!knownExports.some(({ source }) => source === named)) return [];
  const recognised = recogniseExport(first);
  if (recognised === undefined || recognised.source === named) return [];
  return [
    `the source is named "${named}", but the file is recognised as an export of ${recognised.source}: its record ids ` +
      `are filed under "${named}", and can name other people there; without source or --source the file is read as ` +
      recognised.source,
  ];
}

/** A warning if a mapping file names another column for the id of contacts than the CRM's column of record ids. */
export function unusedRecordIds(
  { fields, source }: KnownExport,
  given: ExportMapping | undefined,
  header: readonly string[],
  isFree: (column: number) => boolean,
): string[] {
  const keys = new Set(fields.contact_id?.map(headerKey));
  const unused = header.find((name, column) => isFree(column) && keys.has(headerKey(name)));
  if (given?.columns?.contact_id === undefined || unused === undefined) return [];
  return [
    `column "${shownHeader(unused)}" has the record ids of ${source}, and the mapping file names another column as ` +
      'contact_id: files for the importer leave such contacts out; if this is intended, name the column under ignore',
  ];
}

function bearsSignature({ signatures, ownNames = [] }: KnownExport, names: readonly string[]): boolean {
  const isPresent = (alternatives: string): boolean =>
    alternatives.split('|').some((pattern) => names.some((name) => fits(name, pattern)));
  return (
    signatures.some((signature) => signature.every(isPresent)) ||
    names.filter((name) => ownNames.some((pattern) => fits(name, pattern))).length >= enoughOwnNames
  );
}

function fits(name: string, pattern: string): boolean {
  if (pattern.endsWith('…')) return name.startsWith(pattern.slice(0, -1));
  return pattern.startsWith('…') ? name.endsWith(pattern.slice(1)) : name === pattern;
}

/** The record ids in the first rows; none if the CRM's column of record ids is missing or empty. */
function idsOf(
  { fields, idForm }: KnownExport,
  { header, rows }: FirstRows,
): readonly string[] | 'of another program' {
  if (fields.contact_id === undefined) return [];
  const keys = header.map(headerKey);
  const columnOf = (names: readonly string[] = []): number | undefined =>
    names.map((name) => keys.indexOf(headerKey(name))).find((column) => column !== -1);
  const column = columnOf(fields.contact_id);
  if (column === undefined) return columnOf(commonNames.contact_id) === undefined ? [] : 'of another program';
  const ids = rows.map((row) => idText(row[column] ?? '')).filter((id) => id !== '');
  // A single damaged id says nothing about the program.
  const areForeign = idForm !== undefined && ids.length > 0 && !ids.some((id) => idForm.test(id));
  return areForeign ? 'of another program' : ids;
}

function areOwnIds({ ownIdForm }: KnownExport, ids: readonly string[]): boolean {
  return ownIdForm !== undefined && ids.length > 0 && ids.every((id) => ownIdForm.test(id));
}
