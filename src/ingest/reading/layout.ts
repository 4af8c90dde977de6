import { formatCount, formatNumber, nounFor } from '../../domain/text/format.ts';
import { UsageProblem } from '../../domain/problem.ts';
import { headerKey } from '../../domain/text/header-name.ts';
import { isKnownHeaderKey } from '../columns/known-headers.ts';
import type { ExportMapping } from '../columns/mapping-file.ts';
import { emptyFileProblem } from './export-bytes.ts';
import { firstRecords, createSyntaxCheck, usualDelimiters, type Dialect } from './records.ts';

export type Layout = ReturnType<typeof findLayout>['layout'];

/** Maximum number of notes above a header. The longest notes that we have seen had a dozen lines. */
const recordsSearched = 40;
/** Rows below the header that serve as samples of the cells. */
const rowsCompared = 100;
const longestName = 200;

/**
 * Finds the delimiter that splits a line into known names: counting delimiters fails for cells with commas.
 *
 * @param isWhole true if `sample` is the whole file
 * @returns also the syntax check, which goes on with the rest of the file
 */
export function findLayout(
  path: string,
  sample: string,
  isWhole: boolean,
  mapping: ExportMapping | undefined,
) {
  const announced = /^"?sep=(.)"?[\r\n]/i.exec(sample)?.[1];
  const given = mapping?.delimiter ?? announced;
  const wanted = new Set(namesIn(mapping).map(headerKey));
  const isNamed = (cell: string): boolean => {
    const key = cell.length > longestName ? '' : headerKey(cell);
    return key !== '' && (isKnownHeaderKey(key) || wanted.has(key));
  };
  const firstLine = announced === undefined ? 0 : 1;
  const candidates = (given === undefined ? usualDelimiters : [given]).map((delimiter) => {
    const dialect: Dialect = { delimiter, quotes: mapping?.quotes };
    const records = firstRecords(sample, dialect, recordsSearched + rowsCompared, isWhole);
    const scores = records.slice(0, recordsSearched).map((record) => record.filter(isNamed).length);
    const score = Math.max(0, ...scores);
    // If no line has known names, the first line that is not blank is the header.
    const isFirst = (record: string[], at: number): boolean => at >= firstLine && !isBlankRecord(record);
    const headerAt = score > 0 ? scores.indexOf(score) : records.findIndex(isFirst);
    return { dialect, records, headerAt, score, columns: records[headerAt]?.length ?? 0 };
  });
  // If several delimiters find equally many known names, the delimiter with the most columns wins.
  const best = candidates.toSorted(
    (one, other) => other.score - one.score || other.columns - one.columns,
  )[0]!;
  const syntax = createSyntaxCheck(path, best.dialect);
  syntax.push(sample);
  if (isWhole) syntax.finish();
  const header = best.records[best.headerAt];
  if (isWhole && header === undefined) throw emptyFileProblem(path);
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
  const linesAbove = best.headerAt - firstLine;
  const layout = {
    dialect: best.dialect,
    // PostgreSQL cannot store NUL in text.
    header: header.map((name) => name.replaceAll('\0', '')),
    /** True if a column has a known name. Then the line surely is a header and may be shown. */
    recognised: best.score > 0,
    /** Number of records above the header, such as titles, notes and `sep=;`. */
    recordsBefore: best.headerAt,
    rows: best.records
      .slice(best.headerAt + 1)
      .filter((record) => !isBlankRecord(record) && (record.length > 1 || header.length === 1)),
    warnings: linesAbove > 0 ? [linesLeftOutWarning(linesAbove, 'above the header')] : [],
  };
  return { layout, syntax };
}

/** True for a line without text. Such lines are not counted as records. */
export function isBlankRecord(record: readonly string[]): boolean {
  return record.length === 1 && record[0]!.trim() === '';
}

export function linesLeftOutWarning(lines: number, where: string): string {
  const verb = nounFor(lines, 'is no contact and is', 'are no contacts and are');
  return `${formatCount(lines, 'line')} ${where} ${verb} left out`;
}

/** True if a line has an e-mail or a URL, or only numbers and dates: such a line is no header. */
function looksLikeData(header: readonly string[]): boolean {
  return (
    header.some((cell) => /\S@\S+\.\S|^https?:\/\//.test(cell)) ||
    header.every((cell) => cell === '' || /^[\d\s.,:/+-]+$/.test(cell))
  );
}

/** Returns the column names that a mapping file uses. */
function namesIn(mapping: ExportMapping | undefined): string[] {
  const references = [...Object.values(mapping?.columns ?? {}), mapping?.ignore ?? []].flat();
  return references.flatMap((reference) => {
    const column = typeof reference === 'object' ? reference.column : reference;
    return typeof column === 'string' ? [column] : [];
  });
}
