import { isKnownName } from '../columns/known-headers.ts';
import { UsageProblem, type Problem } from '../../domain/problem.ts';
import { headerKey } from '../../domain/text/header-name.ts';
import { readText, withEnd } from './export-text.ts';
import { isBlank, leftOut, type Layout } from './layout.ts';
import type { OpenedExport } from './open-export.ts';
import { RecordParser } from './record-parser.ts';

/** A record below the header that is not blank. */
export interface DataRecord {
  readonly cells: readonly string[];
  /** Why the record cannot be read, if it cannot. */
  readonly fault: string | undefined;
  /** The line in the file, from 1. */
  readonly line: number;
}

/** Longer than any field of a CRM: a longer cell is probably a pasted file. */
const longestCell = 1_000_000;

/**
 * The records of contacts in an export, in batches. Leaves out lines above the header, the header, blank lines, and the
 * footer of a Salesforce report.
 *
 * @param onWarning called at the end with what was left out, and whether the end of the file may be missing
 * @throws Problem `export.*`
 */
export async function* readDataRecords(
  opened: OpenedExport,
  onWarning: (warning: string) => void,
  signal?: AbortSignal,
): AsyncGenerator<readonly DataRecord[]> {
  const { file, layout } = opened;
  const parser = new RecordParser(file.path, layout.dialect);
  const check = createCheck(opened);
  let before = layout.recordsBefore + 1;
  let rows = 0;
  let left = 0;
  let end = '\n';
  for await (const text of withEnd(readText(file, signal))) {
    end = text?.at(-1) ?? end;
    const records: DataRecord[] = [];
    for (const { cells, line } of parser.parse(text ?? '', text === undefined)) {
      if (before > 0) before -= 1;
      else if (isFooter(cells, layout)) left += 1;
      else if (!isBlank(cells)) records.push(check(cells, line));
    }
    rows += records.length;
    if (records.length > 0) yield records;
  }
  if (left > 0) onWarning(leftOut(left, 'below the table'));
  else if (rows > 0 && !/[\r\n]/.test(end))
    onWarning(`the last line has no line end: if the file was cut off, row ${rows} is not whole`);
}

/**
 * A record with another number of cells than the header is malformed: nothing says where the delimiter stands that it
 * has too many or lacks, and one person's cell could be put into another column.
 */
function createCheck({
  file,
  layout: { header },
  fillsShortRows,
}: OpenedExport): (cells: readonly string[], line: number) => DataRecord {
  const headerIn = createHeaderCheck(header);
  const width = header.length;
  const faultOf = (cells: readonly string[], line: number): string | undefined => {
    const repeated = headerIn(cells);
    if (repeated === 'other') throw secondHeader(file.path, line);
    if (repeated === 'same') return 'the header once more';
    if (cells.length > width || (cells.length < width && !fillsShortRows))
      return `too ${cells.length < width ? 'few' : 'many'} cells: ${cells.length}, and the header has ${width}`;
    if (cells.some((cell) => cell.length > longestCell))
      return `a cell of more than ${longestCell} characters`;
    return undefined;
  };
  return (read, line) => {
    const fault = faultOf(read, line);
    const missing = fault === undefined ? width - read.length : 0;
    const cells = missing === 0 ? read : [...read, ...Array.from({ length: missing }, () => '')];
    return { cells, fault, line };
  };
}

function secondHeader(path: string, line: number): Problem {
  return new UsageProblem('export.second-header', 'the file has a second header, with other columns', {
    where: `${path}, line ${line}`,
    next: 'split the file there into two, and run each of them',
  });
}

/** Maximum length of a column's name. */
const longestName = 100;
/** The share of names that exports are known to have, in a second header: a company has fields of its own. */
const fewestKnown = 0.75;

/**
 * Recognises a header below the header: of a file that was put together of several.
 *
 * @returns a function that says `same` where a record repeats the header, in whatever spelling, and `other` where it
 *   has names of other columns: then the rows below it have other columns than those above
 */
function createHeaderCheck(
  names: readonly string[],
): (cells: readonly string[]) => 'same' | 'other' | undefined {
  const header = names.map(headerKey);
  const own = new Set(header.filter((key) => key !== ''));
  const fewestFilled = Math.max(Math.min(2, own.size), own.size / 2);
  const isFilled = (cell: string): boolean => cell.trim() !== '';
  const isName = (cell: string): boolean => {
    if (cell.length > longestName || /^\d+$/.test(cell)) return false;
    const key = headerKey(cell);
    return own.has(key) || isKnownName(key);
  };
  return (cells) => {
    // Nearly every record ends here, at the id in its first cell.
    if (!isName(cells.find(isFilled) ?? '')) return undefined;
    const filled = cells.filter(isFilled);
    if (filled.length < fewestFilled || filled.filter(isName).length < filled.length * fewestKnown)
      return undefined;
    return cells.every((cell, column) => headerKey(cell) === header[column]) ? 'same' : 'other';
  };
}

/** Lines at the end of Salesforce's reports, in the languages of its exports; no contact has such a name. */
const footerLine = new RegExp(
  [
    '^(?:grand totals?|gesamtsummen?|totaux généraux|total général|total(?:es)? general(?:es)?) ?\\(',
    '^total records\\b',
    '^(?:confidential information|informations? confidentielles?|vertrauliche informationen) ?[-–—]',
    '^(?:información confidencial|informazioni riservate|informações confidenciais|vertrouwelijke informatie) ?[-–—]',
    '^copyright .{1,4}\\d{4}',
    '^generated by:',
  ].join('|'),
  'iu',
);

function isFooter(cells: readonly string[], { header }: Layout): boolean {
  return cells.length === 1 && header.length > 1 && footerLine.test(cells[0]!.trim());
}
