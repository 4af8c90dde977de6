import type { ByteText } from '../bytes/byte-text.ts';
import type { RecordScanner } from './record-scanner.ts';
import { hasHalfQuotes, type RowShape } from './row-shape.ts';

/** The position of a record in the text, and its number among the parsed records. */
export interface RecordStart {
  readonly index: number;
  readonly start: number;
}

/** A parsed record. */
export interface ReadRecord extends RecordStart {
  readonly cells: readonly ByteText[];
  readonly end: number;
  readonly isTall: boolean;
  /** The record has as many cells as a row, and its quotes enclose whole cells. */
  readonly isRow: boolean;
}

interface RecordAbove extends RecordStart {
  readonly isRow: boolean;
  /** A row in which no quote may open a cell that ends below. */
  readonly isWhole: boolean;
}

/** Records above in which a cell may begin that ends in the record below. */
interface Openings {
  readonly openings: readonly RecordStart[];
  /** The cells of the records show in which of them the cell begins. */
  readonly isSure: boolean;
}

const noOpenings: Openings = { openings: [], isSure: false };

/** How far above the damage a damaged record can begin: in records and in characters. */
const recordsKept = 20;
const charactersKept = 64 * 1024;

/**
 * The last records that were read, in one of which a damaged record may begin that a record below shows:
 *
 *     2,b@acme.example,line one     read as a row; the last cell has lost its opening quote
 *     line two",Graz                the quote ends a cell that began above
 */
export class RecordsAbove {
  readonly #delimiter: string;
  readonly #lineBreak: string;
  readonly #shape: RowShape;
  readonly #scanner: RecordScanner;
  #records: RecordAbove[] = [];

  constructor(delimiter: string, lineBreak: string, shape: RowShape, scanner: RecordScanner) {
    this.#delimiter = delimiter;
    this.#lineBreak = lineBreak;
    this.#shape = shape;
    this.#scanner = scanner;
  }

  get records(): readonly RecordStart[] {
    return this.#records;
  }

  clear(): void {
    this.#records = [];
  }

  add({ index, start, isRow, cells }: Omit<ReadRecord, 'end' | 'isTall'>): void {
    this.#records.push({ index, start, isRow, isWhole: isRow && !hasHalfQuotes(cells.at(-1)!) });
    while (this.#records.length > recordsKept || start - this.#records[0]!.start > charactersKept)
      this.#records.shift();
  }

  /** Replaces the last records with one damaged record. */
  replaceFrom({ index, start }: RecordStart): void {
    this.#records = this.#records.filter((above) => above.index < index);
    this.add({ index, start, isRow: false, cells: [] });
  }

  /** The records with which a damaged record may begin, because a quote that stands alone in the record may end it. */
  openingsOf(text: string, record: ReadRecord): Openings {
    const { isRow, cells } = record;
    const closed = this.#closedColumn(text, record);
    if (closed === undefined) return noOpenings;
    const shown = this.#openingOf(text, cells, closed);
    if (shown) return { openings: [shown], isSure: true };
    if (!isRow) return { openings: this.#sinceRow(), isSure: false };
    // Such a quote in a row is most likely an inch mark, unless the row begins with the end of the cell.
    return closed > 0
      ? noOpenings
      : { openings: this.#sinceRow().filter(({ isWhole }) => !isWhole), isSure: false };
  }

  /** The last row and the records below it. */
  #sinceRow(): RecordAbove[] {
    return this.#records.slice(
      Math.max(
        0,
        this.#records.findLastIndex(({ isRow }) => isRow),
      ),
    );
  }

  /**
   * The record in which a cell began that ends in a column of a record below, where the cells of both show it. What
   * stands between is text of the cell. Right of the end there are as many cells as in a row, so that the column in
   * which the cell began is known.
   */
  #openingOf(text: string, cells: readonly ByteText[], closed: number): RecordStart | undefined {
    const { width, fitOf } = this.#shape;
    const column = closed + width - cells.length;
    const fit = fitOf(cells, 0, closed);
    if (fit === 'sure' || column < 0 || column >= width) return undefined;
    let isText = fit === 'unlike';
    for (const above of this.#records.toReversed()) {
      const theirs = this.#scanner.cellsAt(text, above.start, false) ?? this.#cellsOfLine(text, above.start);
      if (fitOf(theirs, 0, column) === 'unlike') isText = true;
      else
        return isText || (above.isRow && fitOf(theirs, column + 1, width) === 'unlike') ? above : undefined;
    }
    return undefined;
  }

  /** The column in which the first quote that stands alone in a line may end a cell that begins above. */
  #closedColumn(text: string, { start, isRow, cells: read }: ReadRecord): number | undefined {
    if (isRow && !read.some(hasHalfQuotes)) return undefined;
    const cells = this.#cellsOfLine(text, start);
    const column = cells.findIndex(hasHalfQuotes);
    return column !== -1 && /^[^"].*"\s*$/s.test(cells[column]!) ? column : undefined;
  }

  #cellsOfLine(text: string, start: number): ByteText[] {
    const end = text.indexOf(this.#lineBreak, start);
    return text.slice(start, end === -1 ? undefined : end).split(this.#delimiter) as ByteText[];
  }
}
