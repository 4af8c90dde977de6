import type { ByteText } from '../bytes/byte-text.ts';
import { hasHalfQuotes } from './row-shape.ts';

/** Reads single records from any position of a text, and decides whether their quotes enclose whole cells. */
export class RecordScanner {
  readonly #delimiter: string;
  readonly #mostCells: number;
  readonly #cell: RegExp;

  /** @param mostCells records with more cells are not read */
  constructor(delimiter: string, lineBreak: string, mostCells: number) {
    this.#delimiter = delimiter;
    this.#mostCells = mostCells;
    const [sign, end] = [escaped(delimiter), escaped(lineBreak)];
    this.#cell = new RegExp(
      `(?:"([^"]*(?:""[^"]*)*)"|(?!")([^${sign}${end}]*?))(${sign}|\\r?${end}|\\r?$)`,
      'y',
    );
  }

  /**
   * The cells of the record that begins at a position; undefined where a quote encloses no whole cell, or where the
   * first cell may be the end of another.
   *
   * @param isStrict quotes are in quoted cells only
   */
  cellsAt(text: string, start: number, isStrict: boolean): ByteText[] | undefined {
    const cells: ByteText[] = [];
    this.#cell.lastIndex = start;
    for (;;) {
      const found = this.#cell.exec(text);
      if (found === null) return undefined;
      const [, quoted, plain, sign] = found;
      if (plain?.includes('"') === true && (isStrict || (cells.length === 0 && hasHalfQuotes(plain))))
        return undefined;
      cells.push((plain ?? quoted!.replaceAll('""', '"')) as ByteText);
      if (sign !== this.#delimiter) return cells;
      if (cells.length === this.#mostCells) return undefined;
    }
  }
}

/** A character in a regular expression. */
function escaped(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
}
