import type { Pool } from 'pg';
import { recordedMapping } from '../columns/fields.ts';
import { readDataRecords } from '../reading/data-records.ts';
import { openExport, type ReadingOptions } from '../reading/open-export.ts';
import { OptOutCounts } from '../columns/opt-outs.ts';
import { createRowReader, type StagedRow } from '../columns/read-row.ts';
import { Chunk, finishStaging, stageChunk, type ReadingRecord } from './stage-chunk.ts';
import { rowsWorthAnalyzing } from '../../db/database.ts';
import { changedExport, refuseChange } from '../reading/export-bytes.ts';
import { counted, nounFor } from '../../domain/text/format.ts';

export interface StagingOptions extends ReadingOptions {
  readonly pool: Pool;
  /** The run: `file_sha256` is the content to read, and `rows_staged` is where to continue. */
  readonly runId: string;
  readonly path: string;
  /** Called after each commit with the number of staged rows. */
  readonly onProgress?: ((rowsStaged: number) => void) | undefined;
}

export interface StagedExport {
  readonly rows: number;
  readonly malformed: number;
  readonly source: string;
  readonly warnings: readonly string[];
}

/**
 * Stages an export: streams it with bounded memory into `enrichment.run_rows`, each record with its raw cells, its
 * normalised identity and its keys. A record that cannot be read or identifies no person gets its outcome at once.
 *
 * Chunks are committed together with the number of staged rows. So every row is staged once, also after a kill or
 * beside another process that stages the same run. A completely staged run stays unchanged.
 *
 * @throws Problem `export.*`, `mapping.*` for an error of the file; errors of the driver for an error of the database
 */
export async function stageExport(options: StagingOptions): Promise<StagedExport> {
  const { pool, runId, path, signal } = options;
  const run = await readRun(pool, runId);
  const opened = await openExport(path, options);
  if (opened.file.sha256 !== run.fileSha256) throw changedExport(path);
  const { header } = opened.layout;
  const { source } = opened.columns;
  const reading: ReadingRecord = { header, mapping: recordedMapping(header, opened.columns), source };
  const warnings = [...opened.warnings];

  const readRow = createRowReader(opened.columns);
  const optOuts = new OptOutCounts(opened.columns.optOuts);
  const malformed = new MalformedRows();
  const chunks = new ChunkWriter(runId, run.rowsStaged + 1, signal, (chunk, onCopy) =>
    stageChunk(pool, runId, chunk, reading, onCopy).then(options.onProgress),
  );
  let rows = 0;
  try {
    const onWarning = (warning: string): void => void warnings.push(warning);
    for await (const records of readDataRecords(opened, onWarning, signal)) {
      const staged: StagedRow[] = [];
      for (const { cells, fault, line } of records) {
        rows += 1;
        if (fault === undefined) {
          optOuts.add(cells, rows, line);
        } else {
          malformed.add({ row: rows, fault, line, isShort: cells.length < header.length });
        }
        if (rows > run.rowsStaged) staged.push(readRow(cells, rows, fault));
      }
      await chunks.add(staged);
    }
    await chunks.writeRest();
  } finally {
    await chunks.close();
  }
  await refuseChange(path, opened.file.state);
  await finishStaging(pool, runId, rows, reading);
  // The rows can fill pages that retention has emptied, and that older statistics count as empty: the plan then expects
  // one row of the run.
  if (rows > rowsWorthAnalyzing) await pool.query('analyze enrichment.run_rows (row_number)');
  warnings.push(...optOuts.warnings(), ...malformed.warnings());
  return { rows, malformed: malformed.count, source, warnings };
}

/**
 * Writes rows in chunks. One chunk is written while the other is filled, so that database and parser work at the same
 * time.
 */
class ChunkWriter {
  readonly #runId: string;
  readonly #signal: AbortSignal | undefined;
  readonly #write: (chunk: Chunk, onCopy: () => void) => Promise<unknown>;
  #filling: Chunk;
  #written: Promise<unknown> = Promise.resolve();

  /** @param write writes a chunk, and calls `onCopy` when COPY begins */
  constructor(
    runId: string,
    firstRow: number,
    signal: AbortSignal | undefined,
    write: (chunk: Chunk, onCopy: () => void) => Promise<unknown>,
  ) {
    this.#runId = runId;
    this.#signal = signal;
    this.#write = write;
    this.#filling = new Chunk(runId, firstRow);
  }

  async add(rows: readonly StagedRow[]): Promise<void> {
    if (rows.length > 0) this.#filling.add(rows);
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
    const filled = this.#filling;
    this.#filling = new Chunk(this.#runId, filled.lastRow + 1);
    // The parser serves the connection only between two pieces of the file: it waits until COPY has begun.
    await new Promise<void>((onCopy) => {
      this.#written = this.#write(filled, onCopy);
      // A later await reports the error; until then it must not be an unhandled rejection.
      this.#written.catch(() => {}).finally(onCopy);
    });
  }
}

/** Maximum number of malformed rows that a warning names. */
const shownFaults = 3;

/** Counts the rows of a file that cannot be read. */
class MalformedRows {
  count = 0;
  #short = 0;
  readonly #examples: string[] = [];

  add({ row, fault, line, isShort }: { row: number; fault: string; line: number; isShort: boolean }): void {
    this.count += 1;
    if (isShort) this.#short += 1;
    if (this.count <= shownFaults) this.#examples.push(`row ${row}, line ${line} (${fault})`);
  }

  warnings(): string[] {
    if (this.count === 0) return [];
    const which = `${this.count > shownFaults ? 'the first are ' : ''}${this.#examples.join('; ')}`;
    const lacking = `${counted(this.#short, 'row')} ${nounFor(this.#short, 'has', 'have')} too few cells`;
    return [
      `${counted(this.count, 'row')} cannot be read (rows are counted below the header, lines from the top): ${which}`,
      ...(this.#short === 0
        ? []
        : [`${lacking}; if only empty cells at the end are missing, read the file with --short-rows fill`]),
    ];
  }
}

async function readRun(pool: Pool, runId: string): Promise<{ fileSha256: string; rowsStaged: number }> {
  const found = await pool.query<{ file_sha256: string; rows_staged: number }>(
    'select file_sha256, rows_staged from enrichment.runs where run_id = $1',
    [runId],
  );
  const run = found.rows[0];
  if (!run) throw new Error(`run ${runId} does not exist`);
  return { fileSha256: run.file_sha256, rowsStaged: run.rows_staged };
}
