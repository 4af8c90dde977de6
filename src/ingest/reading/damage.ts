import Papa from 'papaparse';
import type { ByteText } from './byte-text.ts';
import { countCharacter, lineBreakOf, type Dialect } from './dialect.ts';
import { hasHalfQuotes, type RowShape } from './row-shape.ts';

/** Records that the parser has read otherwise than they were written. */
export interface Damage {
  /**
   * - `swallowed`: a stray quote made one cell of several rows; the line with the quote is what is damaged.
   * - `joined`: rows stand in one line, because another character than the file's own ends them.
   */
  readonly kind: 'swallowed' | 'joined';
  /** Position of the record among those of the parser. */
  readonly index: number;
  /** Where the damaged text begins and ends. */
  readonly start: number;
  readonly end: number;
  /** What stands there. */
  readonly records: ByteText[][];
  /** Lines of the record below its first. */
  readonly linesSwallowed: number;
}

export interface InspectionContext {
  /** So many records at the beginning are no rows. */
  readonly exempt: number;
  /** The text ends with the file. */
  readonly last: boolean;
  /** Is filled with the positions of records whose quotes are not as they should be. */
  readonly doubtful: number[];
  /** Is filled with what the quotes of records in one line say of the lines around them, by their positions. */
  readonly halves: Map<number, HalfCells>;
}

/** What the quotes in a line say of the lines around it. */
export interface HalfCells {
  /** A cell ends here that began in a line above, or whose opening quote is missing. */
  readonly closes: boolean;
  /** The first cell may be the rest of one that is open in the line above. */
  readonly mayClose: boolean;
  /** A cell begins that ends in a line below, or whose closing quote is missing. */
  readonly opens: boolean;
}

/** As `Damage`, counted from the beginning of the damaged text. */
type DamagedText = Omit<Damage, 'index' | 'start'>;

/** Lines that are checked below a quote that is never closed or closed too late. */
const linesSampled = 50;

/**
 * Tells records that are as they were written from those that a stray quote or a broken line end has made of several.
 *
 * A record in one line is never doubted here: whether it has the cells of a row is checked later. A record of several
 * lines is doubted where the quotes in it are not as they should be, where it has other cells than a row, or where its
 * lines are rows if they are read on their own.
 */
export class DamageInspector {
  readonly #dialect: Dialect;
  readonly #shape: RowShape;
  readonly #lineBreak: '\r' | '\n';
  readonly #quoted: Papa.Parser;
  readonly #first: Papa.Parser;
  readonly #literal: Papa.Parser;

  constructor(dialect: Dialect, shape: RowShape) {
    this.#dialect = dialect;
    this.#shape = shape;
    this.#lineBreak = lineBreakOf(dialect);
    const { delimiter } = dialect;
    this.#quoted = new Papa.Parser({ delimiter, newline: this.#lineBreak });
    this.#first = new Papa.Parser({ delimiter, newline: this.#lineBreak, preview: 1 });
    this.#literal = new Papa.Parser({ delimiter, newline: this.#lineBreak, fastMode: true });
  }

  /**
   * The first damaged record.
   *
   * @param input the text that was parsed
   */
  find(
    input: string,
    { data, errors, meta }: Papa.ParseResult<ByteText[]>,
    { exempt, last, doubtful, halves }: InspectionContext,
  ): Damage | undefined {
    const breaks = this.#breaksIn(input.slice(0, meta.cursor));
    const isAnyTall = breaks + (last ? 1 : 0) > data.length;
    const isAnyOdd = input.includes('"') && data.some((record) => this.#mayHoldHalfCell(record));
    if (!isAnyTall && !isAnyOdd && errors.length === 0 && !data.some((record) => this.#mayBeJoined(record)))
      return undefined;
    const guessed = new Set(errors.map((error) => error.row));
    const unclosed = errors.find((error) => error.code === 'MissingQuotes')?.row;
    let start = 0;
    for (const [index, record] of data.entries()) {
      const height = isAnyTall ? 1 + record.reduce((sum, cell) => sum + this.#breaksIn(cell), 0) : 1;
      const end = this.#endOfLines(input, start, height);
      if (isAnyOdd && this.#mayHoldHalfCell(record))
        halves.set(index, this.halvesOf(input.slice(start, end)));
      const isDoubtful = height > 1 || index === unclosed || this.#mayBeJoined(record);
      if (index >= exempt && guessed.has(index) && record.some((cell) => this.#isUnclear(cell)))
        doubtful.push(index);
      if (index >= exempt && isDoubtful) {
        const text = input.slice(start, end);
        const damage =
          height === 1 && index !== unclosed
            ? this.#joined(text)
            : this.#swallowed(
                text,
                index === unclosed
                  ? this.#isOpen(text)
                  : this.#hasSwallowed(text, record, guessed.has(index)),
              );
        if (damage) {
          if (doubtful.at(-1) === index) doubtful.pop();
          return { ...damage, index, start, end: start + damage.end };
        }
      }
      start = end;
    }
    return undefined;
  }

  /** @param line of a record */
  halvesOf(line: string): HalfCells {
    const cells = this.#literalCells(line);
    const halves = cells.filter(hasHalfQuotes);
    const [first = '', last = ''] = [halves[0], halves.at(-1)];
    return {
      closes: /^[^"].*"\s*$/s.test(first),
      mayClose: first === cells[0] && !first.startsWith('"'),
      opens: last.startsWith('"') || (last !== '' && last === cells.at(-1) && !/"\s*$/.test(last)),
    };
  }

  /** The damage of a text that is one record, too long to be one. */
  findOpen(input: string): Damage | undefined {
    const damage = this.#swallowed(input, this.#isOpen(input));
    return damage && { ...damage, index: 0, start: 0 };
  }

  /** Rows in one line: as many cells as no row has, and a line end that is not this file's between them. */
  #joined(text: string): DamagedText | undefined {
    const newline = this.#lineBreak === '\n' ? '\r' : '\n';
    const parser = new Papa.Parser({ delimiter: this.#dialect.delimiter, newline });
    const line = text.replace(/[\r\n]+$/, '');
    const { data, errors } = parser.parse(line, 0, false) as Papa.ParseResult<ByteText[]>;
    if (errors.length > 0 || data.length < 2) return undefined;
    if (data.some((cells) => cells.length !== this.#shape.width || cells.some(hasHalfQuotes)))
      return undefined;
    return { kind: 'joined', end: text.length, records: data, linesSwallowed: 0 };
  }

  /** Of a record whose quotes are not as they should be: the cell may end at the quote in it. */
  #isUnclear(cell: string): boolean {
    return cell.includes('"') && (cell.includes(this.#dialect.delimiter) || /[\r\n]/.test(cell));
  }

  #mayBeJoined(record: readonly ByteText[]): boolean {
    if (record.length === this.#shape.width && record.length > 1) return false;
    const sign = this.#lineBreak === '\n' ? '\r' : '\n';
    return record.some((cell) => cell.includes(sign));
  }

  /**
   * A cell in several lines begins in the last cell of a record; it ends in the first one, or in one of a torn
   * record.
   */
  #mayHoldHalfCell(record: readonly ByteText[]): boolean {
    if (record.length !== this.#shape.width) return record.some((cell) => cell.includes('"'));
    return record[0]!.includes('"') || record[record.length - 1]!.includes('"');
  }

  #swallowed(text: string, isDamaged: boolean): DamagedText | undefined {
    if (!isDamaged) return undefined;
    const end = this.#endOfLines(text, 0, 1);
    const records = [this.#literalCells(text.slice(0, end))];
    return { kind: 'swallowed', end, records, linesSwallowed: this.#linesOf(text.slice(end)).length };
  }

  #hasSwallowed(text: string, record: readonly ByteText[], isGuessed: boolean): boolean {
    const [first, ...below] = this.#linesOf(text).map((line) => this.#cellsOf(line));
    const { looksLikeRow, width } = this.#shape;
    if (isGuessed || record.length !== width || this.halvesOf(text).closes) {
      const isRow = isGuessed
        ? (cells: readonly ByteText[]) => cells.length === width && !this.#shape.continuesCell(cells)
        : looksLikeRow;
      return below.some(isRow) || this.#recordsBelow(text).some(isRow);
    }
    const between = below.slice(0, -1);
    return (
      (looksLikeRow(first!) && looksLikeRow(below.at(-1)!)) ||
      (between.length > 1 && between.filter(looksLikeRow).length * 2 > between.length)
    );
  }

  /**
   * A quote that is never closed: a stray one stands in a whole row above other rows; otherwise the file was cut off.
   */
  #isOpen(text: string): boolean {
    const [first, ...below] = this.#linesOf(text.slice(0, 64 * 1024)).slice(0, linesSampled);
    if (first === undefined || below.length === 0) return false;
    return (
      this.#literalCells(first).length === this.#shape.width &&
      below.some((line) => this.#shape.looksLikeRow(this.#cellsOf(line)))
    );
  }

  /** What is read from the beginning of each line below the first: a row may itself have cells of several lines. */
  #recordsBelow(text: string): ByteText[][] {
    const records: ByteText[][] = [];
    let start = this.#endOfLines(text, 0, 1);
    for (let line = 0; line < linesSampled && start < text.length; line += 1) {
      const below = this.#first.parse(text.slice(start), 0, false) as Papa.ParseResult<ByteText[]>;
      if (below.errors.length === 0 && below.data[0]) records.push(below.data[0]);
      start = this.#endOfLines(text, start, 1);
    }
    return records;
  }

  /** A line as if it stood alone; quotes that do not enclose cells in it are characters like others. */
  #cellsOf(line: string): ByteText[] {
    const { data, errors } = this.#quoted.parse(line, 0, false) as Papa.ParseResult<ByteText[]>;
    return errors.length === 0 && data.length === 1 ? data[0]! : this.#literalCells(line);
  }

  #literalCells(line: string): ByteText[] {
    const text = line.replace(/[\r\n]+$/, '');
    const { data } = this.#literal.parse(text, 0, false) as Papa.ParseResult<ByteText[]>;
    return data[0] ?? ['' as ByteText];
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
