import Papa from 'papaparse';
import { formatNumber } from '../../domain/text/format-number.ts';
import { counted, nounFor } from '../../domain/text/counted.ts';
import { UsageProblem, type Problem } from '../../domain/problem.ts';
import { emptyFile } from './bytes/file-bytes.ts';
import { headerKey, headerName } from '../../domain/text/header-name.ts';
import { fieldsNamed, isKnownName } from '../columns/recognition/is-known-name.ts';
import type { ExportMapping } from '../columns/mapping/mapping-file.ts';
import { usualDelimiters, type Dialect } from './dialect.ts';

/** The position of the header in a file, and how cells are separated. */
export interface Layout {
  readonly dialect: Dialect;
  readonly header: string[];
  /** At least one column's name is known: the line is a header, and can be shown. */
  readonly recognised: boolean;
  /** Records before the header: titles, notes, `sep=;`. */
  readonly recordsBefore: number;
  /** The first rows, without blank lines and lines of a single cell. */
  readonly rows: readonly (readonly string[])[];
  readonly warnings: readonly string[];
}

/** Title rows and instructions above a header: the longest that were seen had a dozen. */
const recordsSearched = 40;
/**
 * Finds delimiter, line ends and header in the beginning of a file. The delimiter is the one by which a line falls into
 * known column names: counting characters fails on addresses with commas in a file with semicolons.
 *
 * @param sample the beginning of the text
 * @param whole the sample is all there is
 * @throws Problem `export.no-header`, `export.header-too-long`, `export.unclosed-quote`, `export.empty`
 */
export function findLayout(
  path: string,
  sample: string,
  whole: boolean,
  mapping: ExportMapping | undefined,
): Layout {
  const announced = /^"?sep=(.)"?[\r\n]/i.exec(sample)?.[1];
  const lineEnds = lineEndsOf(sample, whole);
  const given = mapping?.delimiter ?? announced;
  const wanted = new Set(namesIn(mapping).map(signOrKey));
  const quotes = mapping?.quotes;
  const candidates = (given === undefined ? usualDelimiters : [given]).map((delimiter) =>
    readCandidate({ delimiter, lineEnds, quotes }, sample, whole, wanted),
  );
  const best = candidates.reduce((left, right) => (isBetter(right, left) ? right : left));
  const header = best.records[best.headerAt];
  if (header === undefined || isBlank(header)) throw emptyFile(path);
  const rows = best.records
    .slice(best.headerAt + 1)
    .filter((record) => record.length > 1 || header.length === 1);
  if (best.score === 0 && looksLikeData(header)) throw noHeader(path);
  refuseSwallowedRows(path, header);
  if (best.isCut) throw headerTooLong(path, sample.length);
  return {
    dialect: best.dialect,
    // PostgreSQL's text cannot hold a NUL, and a column's name has no use for one.
    header: header.map((name) => name.replaceAll('\0', '')),
    recognised: best.score > 0,
    recordsBefore: best.headerAt,
    rows: rows.filter((record) => !isBlank(record)),
    warnings: warningsOf(best, announced !== undefined, lineEnds),
  };
}

/** A line without any text: not a record, and not counted. */
export function isBlank(record: readonly string[]): boolean {
  return record.length === 1 && record[0]!.trim() === '';
}

interface Candidate {
  readonly dialect: Dialect;
  readonly records: string[][];
  readonly headerAt: number;
  /** Known column names in the header. */
  readonly score: number;
  /** The sample ends within its first record. */
  readonly isCut: boolean;
}

function readCandidate(
  dialect: Dialect,
  sample: string,
  whole: boolean,
  wanted: ReadonlySet<string>,
): Candidate {
  const text = dialect.lineEnds === 'mixed' ? sample.replaceAll(/\r\n?/g, '\n') : sample;
  const parser = new Papa.Parser({
    delimiter: dialect.delimiter,
    newline: dialect.lineEnds === 'CR' ? '\r' : '\n',
    preview: recordsSearched + 100,
    fastMode: dialect.quotes === 'none' ? true : undefined,
  });
  let { data } = parser.parse(text, 0, !whole) as Papa.ParseResult<string[]>;
  const isCut = data.length === 0 && !whole;
  // The beginning of a record still shows a quote that is never closed.
  if (data.length === 0) ({ data } = parser.parse(text, 0, false) as Papa.ParseResult<string[]>);
  const records = data.map((record) => record.map((cell) => cell.replace(/\r$/, '')));
  const scores = records
    .slice(0, recordsSearched)
    .map((record) => record.filter((cell) => isNamed(cell, wanted)).length);
  const score = Math.max(0, ...scores);
  return { dialect, records, headerAt: headerPosition(records, scores, score), score, isCut };
}

/**
 * The record with the most known names. Templates show labels above the names of the interface: the names below are the
 * header then. Without any known name it is the first record of the usual width, and no title.
 */
function headerPosition(records: readonly string[][], scores: readonly number[], score: number): number {
  if (score === 0) {
    const width = usualWidth(records);
    const withCells = (least: number): number =>
      records.findIndex((record) => record.length === width && filledCells(record) >= least);
    // A spreadsheet program fills a title up with blank cells.
    return [withCells(2), withCells(1), 0].find((at) => at !== -1)!;
  }
  let at = scores.indexOf(score);
  while (areLabels(records[at]!, records[at + 1] ?? [])) at += 1;
  return at;
}

function filledCells(record: readonly string[]): number {
  return record.filter((cell) => cell.trim() !== '').length;
}

/**
 * Whether a record holds labels, and the next record the names of the same columns as an interface writes them. Cells
 * of a contact can be words of columns by chance, so at least half of the labels must come again, and no known name may
 * belong to another column.
 */
function areLabels(labels: readonly string[], names: readonly string[]): boolean {
  const filled = names.filter((name) => name.trim() !== '');
  if (filled.length < 2 || filled.some((name) => /\s/.test(name.trim()))) return false;
  if (!labels.some((label) => /\s/.test(label.trim()))) return false;
  const same = names.filter((name, column) => isSameColumn(labels[column] ?? '', name));
  const other = names.filter(
    (name, column) => isKnownName(headerKey(name)) && !isSameColumn(labels[column] ?? '', name),
  );
  return other.length === 0 && same.length >= Math.max(2, labels.length / 2);
}

/** Whether two names stand for one column: the same letters, or the same field of a contact. */
function isSameColumn(label: string, name: string): boolean {
  const [one, another] = [headerKey(label), headerKey(name)];
  if (one === '' || another === '') return false;
  return one === another || fieldsNamed(one).some((field) => fieldsNamed(another).includes(field));
}

function isNamed(cell: string, wanted: ReadonlySet<string>): boolean {
  if (cell.length > 200) return false;
  const key = signOrKey(cell);
  return key !== '' && (isKnownName(key) || wanted.has(key));
}

/** The key of a name, or the name itself if it is a sign such as `#`, whose key equals that of a blank cell. */
function signOrKey(name: string): string {
  return headerKey(name) || headerName(name);
}

function isBetter(left: Candidate, right: Candidate): boolean {
  if (left.score !== right.score) return left.score > right.score;
  return usualWidth(left.records) > usualWidth(right.records);
}

/** The most frequent number of cells of a record. */
export function usualWidth(records: readonly (readonly string[])[]): number {
  const counts = new Map<number, number>();
  for (const record of records) {
    if (!isBlank(record)) counts.set(record.length, (counts.get(record.length) ?? 0) + 1);
  }
  return [...counts].sort((left, right) => right[1] - left[1] || right[0] - left[0])[0]?.[0] ?? 0;
}

/** Counted outside of quotes. A CR at the end of a sample may be half of a CRLF. */
function lineEndsOf(sample: string, whole: boolean): Dialect['lineEnds'] {
  let quoted = false;
  let crlf = 0;
  let lf = 0;
  let cr = 0;
  for (let at = 0; at < sample.length; at += 1) {
    const code = sample.charCodeAt(at);
    if (code === 34) quoted = !quoted;
    else if (quoted) continue;
    else if (code === 10) lf += 1;
    else if (code === 13 && sample.charCodeAt(at + 1) === 10) {
      crlf += 1;
      at += 1;
    } else if (code === 13 && (whole || at + 1 < sample.length)) cr += 1;
  }
  if (cr === 0) return crlf > lf ? 'CRLF' : 'LF';
  return lf + crlf === 0 ? 'CR' : 'mixed';
}

function looksLikeData(header: readonly string[]): boolean {
  return (
    header.some((cell) => /\S@\S+\.\S|^https?:\/\//.test(cell)) ||
    header.every((cell) => cell === '' || /^[\d\s.,:/+-]+$/.test(cell))
  );
}

function noHeader(path: string): Problem {
  return new UsageProblem(
    'export.no-header',
    'the first line holds values and not the names of the columns',
    {
      where: `${path}, line 1`,
      next:
        'put a line with the column names above it, such as first_name,last_name,email,company; if there is one, ' +
        'name the delimiter of the file in a mapping file',
    },
  );
}

function headerTooLong(path: string, characters: number): Problem {
  return new UsageProblem(
    'export.header-too-long',
    `the header does not end within ${formatNumber(characters)} characters`,
    {
      where: `${path}, line 1`,
      next: 'check the line ends and quotes there, or export fewer columns',
    },
  );
}

/**
 * A name may have line breaks in it, but no contacts: those are the rows that a stray quote in the header swallowed.
 */
function refuseSwallowedRows(path: string, header: readonly string[]): void {
  if (!header.some((name) => /[\r\n]/.test(name) && looksLikeData(name.split(/[\r\n,;|\t]+/)))) return;
  throw new UsageProblem('export.unclosed-quote', 'a quote is opened in the header and not closed there', {
    where: `${path}, header`,
    next: 'close the quote in that line, or export the file again; inside of quotes, a quote is written twice',
  });
}

/** A warning of lines that belong to no record. */
export function leftOut(lines: number, where: string): string {
  const verb = nounFor(lines, 'is no contact and is', 'are no contacts and are');
  return `${counted(lines, 'line')} ${where} ${verb} left out`;
}

function warningsOf(best: Candidate, announced: boolean, lineEnds: Dialect['lineEnds']): string[] {
  const warnings: string[] = [];
  const before = best.headerAt - (announced ? 1 : 0);
  if (before > 0) warnings.push(leftOut(before, 'above the header'));
  if (lineEnds === 'mixed') {
    warnings.push('lines end in different ways; line breaks inside of cells are read as plain ones');
  }
  return warnings;
}

function namesIn(mapping: ExportMapping | undefined): string[] {
  const references = [...Object.values(mapping?.columns ?? {}), mapping?.ignore ?? []].flat();
  return references.flatMap((reference) => {
    const column = typeof reference === 'object' ? reference.column : reference;
    return typeof column === 'string' ? [column] : [];
  });
}
