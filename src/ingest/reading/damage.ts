import Papa from 'papaparse';
import type { ByteText } from './byte-text.ts';
import { CorrectableRow } from './correctable-row.ts';
import { countCharacter, lineBreakOf, type Dialect } from './dialect.ts';
import { isBlank } from './layout.ts';
import { RecordScanner } from './record-scanner.ts';
import { RecordsAbove, type ReadRecord, type RecordStart } from './records-above.ts';
import { hasHalfQuotes, type RowShape } from './row-shape.ts';

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

/** Lines and characters below the beginning of damage that decide where it ends. */
const linesSearched = 50;
const charactersSearched = 64 * 1024;

/**
 * Finds damaged records and their ends. A damaged record is the shortest sequence of lines that one correction turns
 * into a row (`CorrectableRow`), and below which another row begins.
 *
 * A record of several lines is damaged if it has another number of cells than a row, if its quotes do not enclose whole
 * cells, or if each of its lines is a row.
 */
export class DamageInspector {
  readonly #delimiter: string;
  readonly #quotes: Dialect['quotes'];
  readonly #shape: RowShape;
  readonly #lineBreak: '\r' | '\n';
  readonly #scanner: RecordScanner;
  readonly #above: RecordsAbove;

  constructor(dialect: Dialect, shape: RowShape) {
    this.#delimiter = dialect.delimiter;
    this.#quotes = dialect.quotes;
    this.#shape = shape;
    this.#lineBreak = lineBreakOf(dialect);
    this.#scanner = new RecordScanner(dialect.delimiter, this.#lineBreak, shape.width);
    this.#above = new RecordsAbove(dialect.delimiter, this.#lineBreak, shape, this.#scanner);
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
    const breaks = this.#breaksIn(text.slice(from.start, from.start + meta.cursor));
    const isAnyTall = breaks + (last ? 1 : 0) > data.length;
    let { start } = from;
    for (const [position, cells] of data.entries()) {
      const height = isAnyTall ? 1 + cells.reduce((sum, cell) => sum + this.#breaksIn(cell), 0) : 1;
      const end = position === unclosed ? text.length : this.#endOfLines(text, start, height);
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
    const { index, start, end, isRow, isTall, cells } = record;
    const line = isRow && !isTall ? '' : text.slice(start, end);
    const rows = isRow || isTall ? undefined : this.#rowsJoined(line, cells);
    if (rows) return { kind: 'joined', index, start, end, records: rows, linesSwallowed: 0 };
    if (this.#quotes === 'none') return undefined;
    const isDoubtful = isRow
      ? isTall && (!this.#scanner.cellsAt(line, 0, true) || this.#swallowsRows(line))
      : line.includes('"');
    const { openings, isSure } = this.#above.openingsOf(text, record);
    if (!isDoubtful && openings.length === 0) return undefined;
    if (!last && text.length - start < charactersSearched)
      return { kind: 'undecided', index, start, end: start, records: [], linesSwallowed: 0 };
    let torn = isDoubtful ? this.#endOfDamage(text, record, start, last) : undefined;
    if (isRow || isSure || torn?.isCorrectable !== true)
      torn = this.#linesFromAbove(text, openings, start, last) ?? torn;
    if (torn === undefined || (torn.start === start && torn.end === end)) return undefined;
    const damaged = text.slice(torn.start, torn.end).replace(/[\r\n]+$/, '');
    this.#above.replaceFrom(torn);
    return {
      kind: 'torn',
      index: torn.index,
      start: torn.start,
      end: torn.end,
      records: [damaged.split(this.#delimiter) as ByteText[]],
      linesSwallowed: this.#linesOf(text.slice(torn.end, end)).length,
    };
  }

  /** The lines of a damaged record that begins with a record above: with the nearest one that is possible. */
  #linesFromAbove(
    text: string,
    above: readonly RecordStart[],
    start: number,
    last: boolean,
  ): Lines | undefined {
    for (const record of above.toReversed()) {
      const found = this.#endOfDamage(text, record, start, last);
      if (found?.isCorrectable === true) return found;
    }
    return undefined;
  }

  /**
   * Where a damaged record ends: behind the first lines that are correctable and that a row follows. Without such
   * lines, it ends behind the first that are correctable or that a row follows. One line that looks like a row may be
   * text of a cell; two lines are rows.
   *
   * @param behind the record ends behind this position
   */
  #endOfDamage(
    text: string,
    { index, start }: RecordStart,
    behind: number,
    last: boolean,
  ): Lines | undefined {
    const row = new CorrectableRow(this.#delimiter, this.#lineBreak, this.#shape.width);
    const limit = Math.min(text.length, start + charactersSearched);
    let first: number | undefined;
    let end = start;
    for (let line = 0, rows = 0; line < linesSearched && end < limit && rows < 2; line += 1) {
      const begin = end;
      end = this.#endOfLines(text, begin, 1);
      const isCorrectable = row.add(text.slice(begin, end));
      if (end <= behind) continue;
      const isEnd = last && text.slice(end).trim() === '';
      const next = this.#scanner.cellsAt(text, end, false);
      const isAboveRow = next !== undefined && this.#isRow(next);
      if (isCorrectable && (isAboveRow || isEnd)) return { index, start, end, isCorrectable };
      if (isCorrectable || (isAboveRow && this.#shape.looksLikeRow(next))) first ??= end;
      if (isAboveRow) rows += 1;
    }
    return first === undefined ? undefined : { index, start, end: first, isCorrectable: false };
  }

  /** A row that does not begin inside of a cell. */
  #isRow(cells: readonly ByteText[]): boolean {
    const { width, continuesCell } = this.#shape;
    return cells.length === width && !continuesCell(cells);
  }

  /** Rows in one line: as many cells as no row has, and a line end that is not this file's between them. */
  #rowsJoined(line: string, cells: readonly ByteText[]): ByteText[][] | undefined {
    const newline = this.#lineBreak === '\n' ? '\r' : '\n';
    if (!cells.some((cell) => cell.includes(newline))) return undefined;
    const parser = new Papa.Parser({ delimiter: this.#delimiter, newline });
    const text = line.replace(/[\r\n]+$/, '');
    const { data, errors } = parser.parse(text, 0, false) as Papa.ParseResult<ByteText[]>;
    const areRows = data.every(
      (row) =>
        row.length === this.#shape.width &&
        !row.some(hasHalfQuotes) &&
        !(this.#shape.continuesCell(row) && this.#shape.hasUnlikeCell(row)),
    );
    return errors.length === 0 && data.length > 1 && areRows ? data : undefined;
  }

  /** Of a record whose quotes are not as they should be: the cell may end at the quote in it. */
  #isUnclear(cell: string): boolean {
    return cell.includes('"') && (cell.includes(this.#delimiter) || /[\r\n]/.test(cell));
  }

  /** Whether the lines of a record are rows if each of them is read on its own. */
  #swallowsRows(text: string): boolean {
    const lines = this.#linesOf(text).map((line) =>
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

  #linesOf(text: string): string[] {
    const lines = text.split(this.#lineBreak);
    if (lines.at(-1) === '') lines.pop();
    return this.#lineBreak === '\n' ? lines.map((line) => line.replace(/\r$/, '')) : lines;
  }

  #breaksIn(text: string): number {
    return countCharacter(text, this.#lineBreak);
  }

  #endOfLines(text: string, start: number, lines: number): number {
    let end = start;
    for (let line = 0; line < lines; line += 1) {
      const at = text.indexOf(this.#lineBreak, end);
      if (at === -1) return text.length;
      end = at + 1;
    }
    return end;
  }
}

interface Lines extends RecordStart {
  readonly end: number;
  readonly isCorrectable: boolean;
}
