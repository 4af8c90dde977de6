import { counted } from '../../domain/text/counted.ts';

/** Maximum number of malformed rows that a warning names. */
const shownFaults = 3;

/** Counts the rows of a file that cannot be read. */
export class MalformedRows {
  #count = 0;
  readonly #examples: string[] = [];

  get count(): number {
    return this.#count;
  }

  /** @param lineOf is called only for rows that the warning names */
  add(row: number, fault: string, lineOf: () => number): void {
    this.#count += 1;
    if (this.#count <= shownFaults) this.#examples.push(`row ${row}, line ${lineOf()} (${fault})`);
  }

  warnings(): string[] {
    if (this.#count === 0) return [];
    const which = `${this.#count > shownFaults ? 'the first are ' : ''}${this.#examples.join('; ')}`;
    const counting = 'rows are counted below the header, lines from the top';
    return [`${counted(this.#count, 'row')} cannot be read (${counting}): ${which}`];
  }
}
