import type { StagedRow } from '../columns/rows/read-row.ts';
import { Chunk } from './chunk.ts';

/** Writes a chunk. Calls `onCopy` when COPY begins. */
type WriteChunk = (chunk: Chunk, onCopy: () => void) => Promise<unknown>;

/**
 * Writes rows in chunks. One chunk is written while the other is filled, so that database and parser work at the same
 * time.
 */
export class ChunkWriter {
  readonly #write: WriteChunk;
  readonly #signal: AbortSignal | undefined;
  #filling: Chunk;
  #writing: Chunk;
  #written: Promise<unknown> = Promise.resolve();

  constructor(runId: string, write: WriteChunk, signal: AbortSignal | undefined) {
    this.#write = write;
    this.#signal = signal;
    this.#filling = new Chunk(runId);
    this.#writing = new Chunk(runId);
  }

  add(row: StagedRow): void {
    this.#filling.add(row);
  }

  async writeIfFull(): Promise<void> {
    if (this.#filling.isFull) await this.#writeFilled();
  }

  async writeRest(): Promise<void> {
    if (!this.#filling.isEmpty) await this.#writeFilled();
  }

  /** Waits until the last chunk is written. */
  async close(): Promise<void> {
    await this.#written;
  }

  async #writeFilled(): Promise<void> {
    await this.#written;
    this.#signal?.throwIfAborted();
    [this.#filling, this.#writing] = [this.#writing, this.#filling];
    this.#filling.clear();
    // The parser serves the connection only between two pieces of the file: it waits until COPY has begun.
    await new Promise<void>((onCopy) => {
      this.#written = this.#write(this.#writing, onCopy);
      // A later await reports the error; until then it must not be an unhandled rejection.
      this.#written.catch(() => {}).finally(onCopy);
    });
  }
}
