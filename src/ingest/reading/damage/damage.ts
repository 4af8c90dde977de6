import type Papa from 'papaparse';
import type { ByteText } from '../bytes/byte-text.ts';
import { charactersSearched, DamagedLinesSearch, type DamagedLines } from './damaged-lines.ts';
import type { Dialect } from '../dialect.ts';
import { readJoinedRows } from './joined-rows.ts';
import { isBlank } from '../layout.ts';
import { RecordScanner } from './record-scanner.ts';
import { RecordsAbove, type ReadRecord, type RecordStart } from './records-above.ts';
import { hasHalfQuotes, type RowShape } from './row-shape.ts';
import { TextLines } from '../text-lines.ts';

/** Lines that the parser has read differently from how they were written. */
export interface Damage extends RecordStart {
  /**
   * - `torn`: the lines are one damaged record.
   * - `joined`: rows stand in one line, because another character than the file's own ends them.
   * - `undecided`: what follows in the file decides.
   */
  readonly kind: 'torn' | 'joined' | 'undecided';
  readonly end: number;
  /** What stands there. */
  readonly records: ByteText[][];
  /** Number of lines below the damaged lines that the parser has read as parts of the same record. */
  readonly linesSwallowed: number;
}

export interface ParsedText {
  readonly text: string;
  /** The first record that was parsed. */
  readonly from: RecordStart;
  readonly parsed: Papa.ParseResult<ByteText[]>;
  /** Number of records at the beginning that are no rows. */
  readonly exempt: number;
  /** The text ends at the end of the file. */
  readonly last: boolean;
  /** Is filled with why records are no rows, by their positions: quotes are surplus or missing. */
  readonly faults: Map<number, string>;
}

const unclearQuote =
  'a quote stands inside of a cell with delimiters or line breaks: where the cell ends is not clear';
const tornText = 'the cells do not fit their columns: a text with delimiters in it stands without quotes';

/**
 * Finds damaged records and their ends. One wrong quote can make the parser read several rows as one record:
 *
 *     "Eve,Ek,eve@orbit.example     a quote that was never meant to open a cell …
 *     Ben,Okoro,ben@acme.example
 *     Cy,"Dahl",cy@helio.example    … ends at the quote of another row
 *
 * A damaged record is the shortest sequence of lines that one correction turns into a row (`CorrectableRow`), and below
 * which another row begins: here the first line. Reading continues with the second line.
 *
 * A record of several lines is damaged if it has another number of cells than a row, if its quotes do not enclose whole
 * cells, or if each of its lines is a row.
 *
 * A damaged record can also begin above the record that shows the damage: a cell that lost its opening quote begins in
 * a record that the parser has read as a row (`RecordsAbove`).
 */
export class DamageInspector {
  readonly #delimiter: string;
  readonly #quotes: Dialect['quotes'];
  readonly #shape: RowShape;
  readonly #lines: TextLines;
  readonly #scanner: RecordScanner;
  readonly #search: DamagedLinesSearch;
  readonly #above: RecordsAbove;

  constructor(dialect: Dialect, shape: RowShape) {
    this.#delimiter = dialect.delimiter;
    this.#quotes = dialect.quotes;
    this.#shape = shape;
    this.#lines = new TextLines(dialect);
    this.#scanner = new RecordScanner(dialect.delimiter, this.#lines.lineBreak, shape.width);
    this.#search = new DamagedLinesSearch(dialect.delimiter, this.#lines, shape, this.#scanner);
    this.#above = new RecordsAbove(dialect.delimiter, this.#lines.lineBreak, shape, this.#scanner);
  }

  /** The last records: what follows them may show that they are damaged. */
  get above(): readonly RecordStart[] {
    return this.#above.records;
  }

  /** Begins with another text. */
  restart(): void {
    this.#above.clear();
  }

  /** The first damaged record that the parser has read as another record. */
  find({ text, from, parsed, exempt, last, faults }: ParsedText): Damage | undefined {
    const { data, errors, meta } = parsed;
    const guessed = new Set(errors.map((error) => error.row));
    const unclosed = errors.find((error) => error.code === 'MissingQuotes')?.row;
    const breaks = this.#lines.countBreaks(text.slice(from.start, from.start + meta.cursor));
    const isAnyTall = breaks + (last ? 1 : 0) > data.length;
    let { start } = from;
    for (const [position, cells] of data.entries()) {
      const height = isAnyTall ? 1 + cells.reduce((sum, cell) => sum + this.#lines.countBreaks(cell), 0) : 1;
      const end = position === unclosed ? text.length : this.#lines.endOf(text, start, height);
      if (position >= exempt && !isBlank(cells)) {
        const isUnclear = guessed.has(position) && cells.some((cell) => this.#isUnclear(cell));
        const isRow = cells.length === this.#shape.width && !isUnclear && position !== unclosed;
        const record = { index: from.index + position, cells, start, end, isTall: height > 1, isRow };
        const damage = this.#damageOf(text, record, last);
        if (damage) return damage;
        if (isUnclear) faults.set(record.index, unclearQuote);
        else if (isRow && this.#isTornText(text, record)) faults.set(record.index, tornText);
        this.#above.add(record);
      }
      start = end;
    }
    return undefined;
  }

  /** The damage of a record that is longer than the limit. */
  findOverlong(text: string, { index, start }: RecordStart): Damage | undefined {
    const record = { index, start, end: text.length, cells: [], isTall: true, isRow: false };
    return this.#damageOf(text, record, false);
  }

  #damageOf(text: string, record: ReadRecord, last: boolean): Damage | undefined {
    const joined = record.isRow || record.isTall ? undefined : this.#joinedRows(text, record);
    if (joined || this.#quotes === 'none') return joined;
    const isDoubtful = this.#isDoubtful(text, record);
    const { openings, isSure } = this.#above.openingsOf(text, record);
    if (!isDoubtful && openings.length === 0) return undefined;
    const { index, start, end } = record;
    if (!last && text.length - start < charactersSearched)
      return { kind: 'undecided', index, start, end: start, records: [], linesSwallowed: 0 };
    const fromHere = isDoubtful ? this.#search.from(text, record, start, last) : undefined;
    const canBeginAbove = record.isRow || isSure || fromHere?.isCorrectable !== true;
    const fromAbove = canBeginAbove ? this.#search.fromNearest(text, openings, start, last) : undefined;
    const damaged = fromAbove ?? fromHere;
    // The parser has read the lines as one record too.
    if (damaged === undefined || (damaged.start === start && damaged.end === end)) return undefined;
    return this.#torn(text, damaged, end);
  }

  /** Rows in one line: the line has another line end in it. */
  #joinedRows(text: string, { index, start, end, cells }: ReadRecord): Damage | undefined {
    const newline = this.#lines.lineBreak === '\n' ? '\r' : '\n';
    if (!cells.some((cell) => cell.includes(newline))) return undefined;
    const dialect = { delimiter: this.#delimiter, newline } as const;
    const records = readJoinedRows(text.slice(start, end), dialect, this.#shape);
    return records && { kind: 'joined', index, start, end, records, linesSwallowed: 0 };
  }

  /** Whether the quotes of a record may be wrong. */
  #isDoubtful(text: string, { start, end, isRow, isTall }: ReadRecord): boolean {
    if (isRow && !isTall) return false;
    const lines = text.slice(start, end);
    return isRow ? !this.#scanner.cellsAt(lines, 0, true) || this.#swallowsRows(lines) : lines.includes('"');
  }

  /** @param end of the record that the parser has read there */
  #torn(text: string, damaged: DamagedLines, end: number): Damage {
    this.#above.replaceFrom(damaged);
    const lines = text.slice(damaged.start, damaged.end).replace(/[\r\n]+$/, '');
    return {
      kind: 'torn',
      index: damaged.index,
      start: damaged.start,
      end: damaged.end,
      records: [lines.split(this.#delimiter) as ByteText[]],
      linesSwallowed: this.#lines.split(text.slice(damaged.end, end)).length,
    };
  }

  /** Of a record whose quotes are not as they should be: the cell may end at the quote in it. */
  #isUnclear(cell: string): boolean {
    return cell.includes('"') && (cell.includes(this.#delimiter) || /[\r\n]/.test(cell));
  }

  /** Whether the lines of a record are rows if each of them is read on its own. */
  #swallowsRows(text: string): boolean {
    const lines = this.#lines
      .split(text)
      .map((line) =>
        this.#shape.looksLikeRow(
          this.#scanner.cellsAt(line, 0, false) ?? (line.split(this.#delimiter) as ByteText[]),
        ),
      );
    const between = lines.slice(1, -1);
    const rows = between.filter(Boolean).length;
    return (lines[0]! && lines.at(-1)!) || (between.length > 1 && rows * 2 > between.length);
  }

  /**
   * Whether the cells of a row are pieces of a text with delimiters whose quotes were lost. A cell in quotes is no
   * such piece, and where quotes enclose whole cells, none was lost.
   */
  #isTornText(text: string, { start, end, cells }: ReadRecord): boolean {
    const { continuesCell, hasUnlikeCell } = this.#shape;
    if (!continuesCell(cells)) return false;
    if (this.#quotes === 'none') return hasUnlikeCell(cells);
    const line = text.slice(start, end);
    if (!this.#scanner.cellsAt(line, 0, true)) return cells.some(hasHalfQuotes) || hasUnlikeCell(cells);
    const outsideOfQuotes = line.replaceAll(/"[^"]*"/g, '').split(this.#delimiter);
    return continuesCell(outsideOfQuotes) && hasUnlikeCell(cells);
  }
}
