type Sign = 'quote' | 'delimiter' | 'break' | 'other';

/** The position within a cell. */
const quoting = { begins: 0, plain: 1, quoted: 2, closes: 3 } as const;
const positions = 4;
const inserted = ['quote', 'delimiter', 'break'] as const;

/**
 * Decides whether lines are one row with one wrong character: a surplus or missing quote or delimiter, or a missing
 * line end between two rows.
 *
 * Follows all corrections at the same time, so that a text is read once. A state is one number: four times the number
 * of ended cells, and the position that `quoting` names. The cells of a second row are counted on: with rows of three
 * cells, the states 0 to 11 are of the first row, and 12 to 23 of the second.
 *
 * There are few states after one correction, because two corrections that lead to the same cell and position are one.
 */
export class CorrectableRow {
  readonly #delimiter: string;
  readonly #lineBreak: string;
  readonly #width: number;
  /** The state without a correction; undefined: the text is not well-formed. */
  #asWritten: number | undefined = quoting.begins;
  /** The states after one correction. */
  #corrected = new Set<number>();

  /** @param width cells of a row */
  constructor(delimiter: string, lineBreak: string, width: number) {
    this.#delimiter = delimiter;
    this.#lineBreak = lineBreak;
    this.#width = width;
  }

  /**
   * @param line the next line with its line break
   * @returns whether all lines so far are a row, or two, after one correction
   */
  add(line: string): boolean {
    const text = line.replace(/[\r\n]+$/, '');
    for (const character of text) this.#read(this.#signOf(character));
    const last = this.#asWritten;
    const ends = [
      ...this.#corrected,
      ...(last === undefined ? [] : inserted.map((sign) => this.#next(last, sign))),
    ];
    this.#read('break');
    return ends.some((state) => state !== undefined && this.#isWholeRow(state));
  }

  #read(sign: Sign): void {
    const corrected = new Set<number>();
    const add = (state: number | undefined): void => {
      if (state !== undefined) corrected.add(state);
    };
    for (const state of this.#corrected) if (!this.#endsEarly(state, sign)) add(this.#next(state, sign));
    const state = this.#asWritten;
    if (state !== undefined) {
      if (sign === 'quote' || sign === 'delimiter') add(state);
      for (const each of inserted) {
        const between = this.#next(state, each);
        if (between !== undefined && !this.#endsEarly(between, sign)) add(this.#next(between, sign));
      }
      this.#asWritten = this.#endsEarly(state, sign) ? undefined : this.#next(state, sign);
    }
    this.#corrected = corrected;
  }

  /** A line break that ends a record: the lines are not one. */
  #endsEarly(state: number, sign: Sign): boolean {
    return sign === 'break' && state % positions !== quoting.quoted;
  }

  #next(state: number, sign: Sign): number | undefined {
    const position = state % positions;
    const cell = state - position;
    if (position === quoting.quoted) return sign === 'quote' ? cell + quoting.closes : state;
    if (sign === 'delimiter') {
      const isLast = (cell / positions) % this.#width === this.#width - 1;
      return isLast ? undefined : cell + positions;
    }
    if (sign === 'break')
      return this.#isWholeRow(state) && cell < this.#width * positions ? cell + positions : undefined;
    if (sign === 'other') return position === quoting.closes ? undefined : cell + quoting.plain;
    return position === quoting.plain ? undefined : cell + quoting.quoted;
  }

  #isWholeRow(state: number): boolean {
    const cells = Math.floor(state / positions);
    return state % positions !== quoting.quoted && cells % this.#width === this.#width - 1;
  }

  #signOf(character: string): Sign {
    if (character === '"') return 'quote';
    if (character === this.#delimiter) return 'delimiter';
    return character === this.#lineBreak ? 'break' : 'other';
  }
}
