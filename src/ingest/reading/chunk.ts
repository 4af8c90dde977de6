import type { ByteText } from './byte-text.ts';

/** Some 8,000 rows of a CRM: a kill loses at most the work on two chunks, and no row. */
const usualBytes = 4 * 1024 * 1024;

/**
 * Consecutive rows as lines of COPY, in memory that is used again for the next rows: allocating megabytes for each
 * chunk anew kept the garbage collector busy for a seventh of the time of staging.
 */
export class Chunk {
  #memory = Buffer.allocUnsafeSlow(usualBytes);
  #used = 0;
  #rows = 0;
  #firstRow = 1;

  get isEmpty(): boolean {
    return this.#rows === 0;
  }

  get firstRow(): number {
    return this.#firstRow;
  }

  get lastRow(): number {
    return this.#firstRow + this.#rows - 1;
  }

  /** Forgets the rows. What was handed out of the lines must not be in use any more. */
  clear(): void {
    this.#used = 0;
    this.#rows = 0;
  }

  hasRoomFor(lines: ByteText): boolean {
    return this.#used + lines.length <= this.#memory.length;
  }

  /**
   * @param firstRow number of the first of these rows; they follow those that are here
   * @param lines one line for each row, each with its line end
   */
  add(firstRow: number, rows: number, lines: ByteText): void {
    if (!this.hasRoomFor(lines)) this.#grow(lines.length);
    if (this.isEmpty) this.#firstRow = firstRow;
    this.#used += this.#memory.write(lines, this.#used, 'latin1');
    this.#rows += rows;
  }

  /** The lines of the rows behind this one. Each line ends in a line feed and holds no other. */
  linesAfter(row: number): Buffer {
    let start = 0;
    for (let staged = this.#firstRow; staged <= row; staged += 1) start = this.#memory.indexOf(10, start) + 1;
    return this.#memory.subarray(start, this.#used);
  }

  /** For rows that are each as large as hundreds of others. */
  #grow(bytes: number): void {
    const larger = Buffer.allocUnsafeSlow(this.#used + bytes);
    this.#memory.copy(larger, 0, 0, this.#used);
    this.#memory = larger;
  }
}
