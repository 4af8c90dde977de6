import { countCharacter } from './dialect.ts';

/** The lines in the file that the records of a batch begin in. */
export class RecordLines {
  readonly #lineBreak: string;
  /** Records whose line is known. The lines of the records below follow from the line breaks in cells. */
  readonly #known: { readonly index: number; readonly line: number }[];

  /** @param line of the first record, from 1 */
  constructor(lineBreak: string, line: number) {
    this.#lineBreak = lineBreak;
    this.#known = [{ index: 0, line }];
  }

  /** Says in which line a record begins. Records from there on are read again. */
  begin(index: number, line: number): void {
    while (this.#known.length > 0 && this.#known.at(-1)!.index >= index) this.#known.pop();
    this.#known.push({ index, line });
  }

  lineOf(records: readonly (readonly string[])[], index: number): number {
    const above = this.#known.findLast((each) => each.index <= index)!;
    let { line } = above;
    for (const cells of records.slice(above.index, index))
      line += cells.reduce((lines, cell) => lines + countCharacter(cell, this.#lineBreak), 1);
    return line;
  }
}
