import type { StagedRow } from '../columns/rows/read-row.ts';
import { CopyMemory } from './copy-memory.ts';
import { copyRow } from './copy-row.ts';

/** About 8,000 rows of a CRM: a kill loses the work on at most two chunks, and no row. */
const usualBytes = 4 * 1024 * 1024;
/** For the rows of one piece of the file, which are added before the chunk is full. */
const spareBytes = 512 * 1024;

/** Consecutive rows of a run in the format of COPY. */
export class Chunk {
  readonly #runId: string;
  readonly #memory = new CopyMemory(usualBytes + spareBytes);
  /** Where each row begins. */
  #starts: number[] = [];
  #firstRow = 1;

  constructor(runId: string) {
    this.#runId = runId;
  }

  get isEmpty(): boolean {
    return this.#starts.length === 0;
  }

  get isFull(): boolean {
    return this.#memory.used >= usualBytes;
  }

  get firstRow(): number {
    return this.#firstRow;
  }

  get lastRow(): number {
    return this.#firstRow + this.#starts.length - 1;
  }

  /** Forgets the rows. What was handed out of them must not be in use any more. */
  clear(): void {
    this.#starts = [];
    this.#memory.clear();
  }

  /** @param row the one behind the last row that is here */
  add(row: StagedRow): void {
    if (this.isEmpty) this.#firstRow = row.rowNumber;
    this.#starts.push(this.#memory.used);
    copyRow(this.#memory, this.#runId, row);
  }

  /** What COPY reads for the rows behind this one, which is not the last. The rows before them are gone. */
  copyOfRowsAfter(row: number): Buffer {
    return this.#memory.copyFrom(this.#starts[Math.max(0, row + 1 - this.#firstRow)]!);
  }
}
