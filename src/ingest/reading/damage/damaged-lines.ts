import type { ByteText } from '../bytes/byte-text.ts';
import { CorrectableRow } from './correctable-row.ts';
import type { RecordScanner } from './record-scanner.ts';
import type { RecordStart } from './records-above.ts';
import type { RowShape } from './row-shape.ts';
import type { TextLines } from '../text-lines.ts';

export interface DamagedLines extends RecordStart {
  readonly end: number;
  /** One correction turns the lines into a row. */
  readonly isCorrectable: boolean;
}

/** Lines and characters below the beginning of damage that decide where it ends. */
const linesSearched = 50;
export const charactersSearched = 64 * 1024;

/** Finds where a damaged record ends. */
export class DamagedLinesSearch {
  readonly #delimiter: string;
  readonly #lines: TextLines;
  readonly #shape: RowShape;
  readonly #scanner: RecordScanner;

  constructor(delimiter: string, lines: TextLines, shape: RowShape, scanner: RecordScanner) {
    this.#delimiter = delimiter;
    this.#lines = lines;
    this.#shape = shape;
    this.#scanner = scanner;
  }

  /**
   * The lines of a damaged record: the first lines that are correctable and that a row follows. Without such lines,
   * they are the first that are correctable or that a row follows. One line that looks like a row may be text of a
   * cell; two lines are rows.
   *
   * @param behind the record ends behind this position
   * @param last the text ends at the end of the file
   */
  from(text: string, { index, start }: RecordStart, behind: number, last: boolean): DamagedLines | undefined {
    const row = new CorrectableRow(this.#delimiter, this.#lines.lineBreak, this.#shape.width);
    const limit = Math.min(text.length, start + charactersSearched);
    let secondBest: number | undefined;
    let end = start;
    for (let line = 0, rows = 0; line < linesSearched && end < limit && rows < 2; line += 1) {
      const begin = end;
      end = this.#lines.endOf(text, begin, 1);
      const isCorrectable = row.add(text.slice(begin, end));
      if (end <= behind) continue;
      const isEnd = last && text.slice(end).trim() === '';
      const next = this.#scanner.cellsAt(text, end, false);
      const isAboveRow = next !== undefined && this.#isRow(next);
      if (isCorrectable && (isAboveRow || isEnd)) return { index, start, end, isCorrectable };
      if (isCorrectable || (isAboveRow && this.#shape.looksLikeRow(next))) secondBest ??= end;
      if (isAboveRow) rows += 1;
    }
    return secondBest === undefined ? undefined : { index, start, end: secondBest, isCorrectable: false };
  }

  /** The correctable lines that begin with the nearest of these records and end behind a position. */
  fromNearest(
    text: string,
    above: readonly RecordStart[],
    behind: number,
    last: boolean,
  ): DamagedLines | undefined {
    for (const record of above.toReversed()) {
      const found = this.from(text, record, behind, last);
      if (found?.isCorrectable === true) return found;
    }
    return undefined;
  }

  /** A row that does not begin inside of a cell. */
  #isRow(cells: readonly ByteText[]): boolean {
    const { width, continuesCell } = this.#shape;
    return cells.length === width && !continuesCell(cells);
  }
}
