import { counted, formatNumber, nounFor } from '../../domain/text/format.ts';
import { UsageProblem } from '../../domain/problem.ts';
import { headerKey, headerName } from '../../domain/text/header-name.ts';
import { isKnownName } from '../columns/known-headers.ts';
import type { ExportMapping } from '../columns/mapping-file.ts';
import { emptyFile } from './export-bytes.ts';
import { firstRecords, SyntaxCheck, usualDelimiters, type Dialect } from './records.ts';

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

/** The notes above the header of a CRM's export: the longest that were seen had a dozen lines. */
const recordsSearched = 40;

/**
 * Finds delimiter and header in the beginning of a file. The delimiter is the one by which a line falls into
 * known column names: counting characters fails on addresses with commas in a file with semicolons.
 *
 * @param sample the beginning of the text
 * @param isWhole the sample is the whole text
 * @throws Problem `export.no-header`, `export.empty`, and those of `SyntaxCheck`
 */
export function findLayout(
  path: string,
  sample: string,
  isWhole: boolean,
  mapping: ExportMapping | undefined,
): Layout {
  const announced = /^"?sep=(.)"?[\r\n]/i.exec(sample)?.[1];
  const given = mapping?.delimiter ?? announced;
  const wanted = new Set(namesIn(mapping).map(signOrKey));
  const candidates = (given === undefined ? usualDelimiters : [given]).map((delimiter) =>
    readCandidate({ delimiter, quotes: mapping?.quotes }, sample, isWhole, wanted),
  );
  const best = candidates.reduce((left, right) => (isBetter(right, left) ? right : left));
  const syntax = new SyntaxCheck(path, best.dialect);
  syntax.push(sample);
  if (isWhole) syntax.finish();
  const header = best.records[best.headerAt];
  if (isWhole && (header === undefined || isBlank(header))) throw emptyFile(path);
  if (header === undefined || (best.score === 0 && looksLikeData(header)))
    throw new UsageProblem(
      'export.no-header',
      header === undefined
        ? `the header does not end within ${formatNumber(sample.length)} characters`
        : 'the first line holds values and not the names of the columns',
      {
        where: `${path}, line 1`,
        next:
          'put a line with the column names above it, such as first_name,last_name,email,company; if there is one, ' +
          'name the delimiter of the file in a mapping file',
      },
    );
  const linesAbove = best.headerAt - (announced === undefined ? 0 : 1);
  return {
    dialect: best.dialect,
    // PostgreSQL's text cannot hold a NUL, and a column's name has no use for one.
    header: header.map((name) => name.replaceAll('\0', '')),
    recognised: best.score > 0,
    recordsBefore: best.headerAt,
    rows: best.records
      .slice(best.headerAt + 1)
      .filter((record) => !isBlank(record) && (record.length > 1 || header.length === 1)),
    warnings: linesAbove > 0 ? [leftOut(linesAbove, 'above the header')] : [],
  };
}

/** A line without any text: not a record, and not counted. */
export function isBlank(record: readonly string[]): boolean {
  return record.length === 1 && record[0]!.trim() === '';
}

/** A warning of lines that belong to no record. */
export function leftOut(lines: number, where: string): string {
  const verb = nounFor(lines, 'is no contact and is', 'are no contacts and are');
  return `${counted(lines, 'line')} ${where} ${verb} left out`;
}

interface Candidate {
  readonly dialect: Dialect;
  readonly records: string[][];
  readonly headerAt: number;
  /** Known column names in the header. */
  readonly score: number;
}

function readCandidate(
  dialect: Dialect,
  sample: string,
  isWhole: boolean,
  wanted: ReadonlySet<string>,
): Candidate {
  const records = firstRecords(sample, dialect, recordsSearched + 100, isWhole);
  const scores = records
    .slice(0, recordsSearched)
    .map((record) => record.filter((cell) => isNamed(cell, wanted)).length);
  const score = Math.max(0, ...scores);
  // If no name is known, the first line is the header.
  const headerAt =
    score === 0
      ? Math.max(
          0,
          records.findIndex((record) => !isBlank(record)),
        )
      : scores.indexOf(score);
  return { dialect, records, headerAt, score };
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

/** With as many known names, the delimiter counts by which the header has more columns. */
function isBetter(left: Candidate, right: Candidate): boolean {
  if (left.score !== right.score) return left.score > right.score;
  const columns = ({ records, headerAt }: Candidate): number => records[headerAt]?.length ?? 0;
  return columns(left) > columns(right);
}

function looksLikeData(header: readonly string[]): boolean {
  return (
    header.some((cell) => /\S@\S+\.\S|^https?:\/\//.test(cell)) ||
    header.every((cell) => cell === '' || /^[\d\s.,:/+-]+$/.test(cell))
  );
}

function namesIn(mapping: ExportMapping | undefined): string[] {
  const references = [...Object.values(mapping?.columns ?? {}), mapping?.ignore ?? []].flat();
  return references.flatMap((reference) => {
    const column = typeof reference === 'object' ? reference.column : reference;
    return typeof column === 'string' ? [column] : [];
  });
}
