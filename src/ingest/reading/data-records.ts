import { createHeaderCheck } from '../columns/read-row.ts';
import { isOwnExport, mixedSources } from '../columns/recognise-export.ts';
import { createRowReader } from '../columns/read-row.ts';
import { UsageProblem, type Problem } from '../../domain/problem.ts';
import { withoutApostrophe } from '../../domain/text/formula.ts';
import { readText, withEnd } from './export-text.ts';
import { isBlank, leftOut } from './layout.ts';
import type { OpenedExport } from './open-export.ts';
import { RecordParser } from './record-parser.ts';

/** A record below the header that is not blank. */
export interface DataRecord {
  readonly cells: readonly string[];
  /** Why the record cannot be read, if it cannot. */
  readonly fault: string | undefined;
  /** The line in the file, from 1. */
  readonly line: number;
  /** A blank line, or a line of only delimiters, is above it. */
  readonly isBehindBlank: boolean;
}

/** Longer than any field of a CRM: a longer cell is probably a pasted file. */
const longestCell = 1_000_000;

/**
 * The records of contacts in an export, in batches. Leaves out lines above the header, the header, blank lines, and the
 * footer of a report. A line that identifies a person is a contact wherever it is.
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
  const footer = new FooterSearch(opened);
  const hasApostrophes = isOwnExport(layout.header);
  let before = layout.recordsBefore + 1;
  let rows = 0;
  let isBehindBlank = false;
  let end = '\n';
  for await (const text of withEnd(readText(file, signal))) {
    end = text?.at(-1) ?? end;
    const passed: DataRecord[] = [];
    for (const { cells: read, line } of parser.parse(text ?? '', text === undefined)) {
      if (before > 0) {
        before -= 1;
        continue;
      }
      if (isBlank(read)) {
        isBehindBlank = true;
        continue;
      }
      rows += 1;
      const cells = hasApostrophes ? read.map(withoutApostrophe) : read;
      footer.add(check(cells, line, isBehindBlank), passed);
      isBehindBlank = read.every((cell) => cell.trim() === '');
    }
    if (passed.length > 0) yield passed;
  }
  const last = footer.end();
  if (last.rows.length > 0) yield last.rows;
  if (last.left > 0) onWarning(leftOut(last.left, 'below the table'));
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
  columns: { source, sourceColumn },
  fillsShortRows,
}: OpenedExport): (cells: readonly string[], line: number, isBehindBlank: boolean) => DataRecord {
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
    if (sourceColumn !== undefined && cells[sourceColumn]?.trim() !== source) throw mixedSources(file.path);
    return undefined;
  };
  return (read, line, isBehindBlank) => {
    const fault = faultOf(read, line);
    const missing = fault === undefined ? width - read.length : 0;
    const cells = missing === 0 ? read : [...read, ...Array.from({ length: missing }, () => '')];
    return { cells, fault, line, isBehindBlank };
  };
}

function secondHeader(path: string, line: number): Problem {
  return new UsageProblem('export.second-header', 'the file has a second header, with other columns', {
    where: `${path}, line ${line}`,
    next: 'split the file there into two, and run each of them',
  });
}

/** Lines at the end of Salesforce's reports, in the languages of its exports; no contact has such a name. */
const footerPhrase = new RegExp(
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
/** Maximum lines of a footer; beyond it, lines with one cell are rows that lack the other cells. */
const longestFooter = 20;

/** Separates rows from the footer of a report. Holds lines that could be a footer until the next lines are known. */
class FooterSearch {
  readonly #columns: number;
  readonly #keysOf: (cells: readonly string[]) => readonly string[];
  readonly #held: DataRecord[] = [];

  constructor({ layout, columns }: OpenedExport) {
    const readRow = createRowReader(columns);
    this.#columns = layout.header.length;
    this.#keysOf = (cells) => readRow(cells, 0, undefined).keys;
  }

  /** @param rows gets the records that are rows by now, in their order */
  add(record: DataRecord, rows: DataRecord[]): void {
    if (this.#couldBeFooter(record.cells)) {
      this.#held.push(record);
      if (this.#held.length > longestFooter) rows.push(this.#held.shift()!);
      return;
    }
    if (this.#held.length > 0) rows.push(...this.#held.splice(0));
    rows.push(record);
  }

  /** At the end of the file: a footer begins with its first phrase, or with a title below a blank line above it. */
  end(): { readonly rows: readonly DataRecord[]; readonly left: number } {
    const held = this.#held;
    const phrase = held.findIndex(({ cells }) => footerPhrase.test(cells[0]!.trim()));
    if (phrase === -1) return { rows: held, left: 0 };
    const title = held.slice(0, phrase).findIndex(({ isBehindBlank }) => isBehindBlank);
    const start = title === -1 ? phrase : title;
    return { rows: held.slice(0, start), left: held.length - start };
  }

  /** One cell with text and nothing beside it, in a table of several columns, that identifies nobody. */
  #couldBeFooter(cells: readonly string[]): boolean {
    if (this.#columns === 1 || cells[0] === '' || (cells.length > 1 && cells[1] !== '')) return false;
    return cells.every((cell, index) => index === 0 || cell === '') && this.#keysOf(cells).length === 0;
  }
}
