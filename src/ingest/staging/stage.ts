import { type Pool, DatabaseError, type PoolClient } from 'pg';
import { recordedMapping } from '../columns/fields.ts';
import { readDataRecords } from '../reading/data-records.ts';
import { openExport, type ReadingOptions } from '../reading/open-export.ts';
import { OptOutCounts } from '../columns/opt-outs.ts';
import { createRowReader, type StagedRow } from '../columns/read-row.ts';
import { rowsWorthAnalyzing } from '../../db/database.ts';
import { changedExport, refuseChange } from '../reading/export-bytes.ts';
import { counted, nounFor } from '../../domain/text/format.ts';
import { pipeline } from 'node:stream/promises';
import { from as copyFrom } from 'pg-copy-streams';
import { isFinal, type RunStatus } from '../../contract/run-transitions.ts';
import { fieldOfColumn, identityColumns } from '../../domain/identity/identity.ts';
import { Problem } from '../../domain/problem.ts';

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
      for (const { cells, fault } of records) {
        rows += 1;
        if (fault === undefined) optOuts.add(cells);
        else malformed.add({ row: rows, fault, isShort: cells.length < header.length });
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

  add({ row, fault, isShort }: { row: number; fault: string; isShort: boolean }): void {
    this.count += 1;
    if (isShort) this.#short += 1;
    if (this.count <= shownFaults) this.#examples.push(`row ${row} (${fault})`);
  }

  warnings(): string[] {
    if (this.count === 0) return [];
    const which = `${this.count > shownFaults ? 'the first are ' : ''}${this.#examples.join('; ')}`;
    const lacking = `${counted(this.#short, 'row')} ${nounFor(this.#short, 'has', 'have')} too few cells`;
    return [
      `${counted(this.count, 'row')} cannot be read (rows are counted below the header): ${which}`,
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

/**
 * About 16,000 rows of a CRM: a kill loses the work on at most two chunks, and no row. With 4,000 rows, the parser
 * waited for the statements around each chunk.
 */
const usualBytes = 8 * 1024 * 1024;

/** Columns of `enrichment.run_rows` in the order in which `copyLine` writes them. */
const copyColumns = [
  'run_id',
  'row_number',
  'contact_id',
  'outcome',
  'reason',
  ...identityColumns,
  'opted_out',
  'opted_out_of_calls',
  'keys',
  'raw',
] as const;
const copyRows = `copy enrichment.run_rows (${copyColumns.join(', ')}) from stdin with (null '')`;

/**
 * Consecutive rows of a run, in the text format of COPY. They are kept as bytes: the garbage collector would copy lines
 * of text until they are written, and took a third of the time.
 */
class Chunk {
  readonly firstRow: number;
  readonly #runId: string;
  readonly #pieces: Buffer[] = [];
  #rows = 0;
  #bytes = 0;

  constructor(runId: string, firstRow: number) {
    this.#runId = runId;
    this.firstRow = firstRow;
  }

  get isEmpty(): boolean {
    return this.#rows === 0;
  }

  get isFull(): boolean {
    return this.#bytes >= usualBytes;
  }

  get lastRow(): number {
    return this.firstRow + this.#rows - 1;
  }

  /** @param rows those behind the last row that is here; at least one */
  add(rows: readonly StagedRow[]): void {
    const piece = Buffer.from(`${rows.map((row) => copyLine(this.#runId, row)).join('\n')}\n`);
    this.#pieces.push(piece);
    this.#rows += rows.length;
    this.#bytes += piece.length;
  }

  /** What COPY reads for the rows behind this one, which is not the last. */
  copyOfRowsAfter(row: number): Buffer {
    const bytes = Buffer.concat(this.#pieces);
    let start = 0;
    for (let before = this.firstRow; before <= row; before += 1) start = bytes.indexOf(lineFeed, start) + 1;
    return bytes.subarray(start);
  }
}

const lineFeed = 0x0a;

function copyLine(runId: string, row: StagedRow): string {
  const fields = [runId, String(row.rowNumber), row.contactId, row.outcome, row.reason];
  for (const column of identityColumns) {
    const value = row.identity[fieldOfColumn[column]];
    fields.push(typeof value === 'object' ? arrayOf(value) : value);
  }
  fields.push(row.optedOut ? 't' : 'f', row.optedOutOfCalls ? 't' : 'f', arrayOf(row.keys));
  const head = fields.join('\t');
  // JSON escapes control characters, and lone surrogates, which PostgreSQL refuses in text.
  const cells = JSON.stringify(row.cells);
  return `${special.test(head) ? fields.map(escaped).join('\t') : head}\t${escaped(cells)}`;
}

/** One test of a line instead of one of each field: nearly no line has these, and normalised texts have no tabs. */
const special = /[\\\n\r]/;
const escapes: Readonly<Record<string, string>> = { '\\': '\\\\', '\t': '\\t', '\n': '\\n', '\r': '\\r' };

/** A field of COPY. Null is an empty text: no value is empty. */
function escaped(text = ''): string {
  return special.test(text) ? text.replace(/[\\\t\n\r]/g, (found) => escapes[found]!) : text;
}

/** An array of PostgreSQL. */
function arrayOf(items: readonly string[]): string {
  const quoted = items.map((item) => (/["\\]/.test(item) ? item.replace(/["\\]/g, '\\$&') : item));
  return items.length === 0 ? '{}' : `{"${quoted.join('","')}"}`;
}

/** The facts about the reading of the file that the run stores. */
export interface ReadingRecord {
  readonly header: readonly string[];
  readonly mapping: Readonly<Record<string, string>>;
  readonly source: string;
}

/**
 * Stages consecutive rows in one transaction, together with the run's number of staged rows. Locks the run, so that a
 * second process that stages the same file leaves out the rows that the first one has staged.
 *
 * @param onCopy called when COPY begins
 * @returns the number of staged rows of the run
 */
async function stageChunk(
  pool: Pool,
  runId: string,
  chunk: Chunk,
  reading: ReadingRecord,
  onCopy: () => void,
): Promise<number> {
  return inTransaction(pool, async (client) => {
    // A crash of the server loses rows only together with their count. The commit of finishStaging waits for the disk.
    await client.query('set local synchronous_commit = off');
    const { rowsStaged } = await lockRun(client, runId);
    if (rowsStaged >= chunk.lastRow) return rowsStaged;
    if (rowsStaged < chunk.firstRow - 1)
      throw new Error(`run ${runId}: rows before ${chunk.firstRow} are missing`);
    const copy = client.query(copyFrom(copyRows));
    onCopy();
    // In one piece: between two the stream waits until the socket is served, and the parser lets nothing be served for
    // long.
    await pipeline([chunk.copyOfRowsAfter(rowsStaged)], copy);
    await client.query(
      `update enrichment.runs set rows_staged = $2, header = $3, mapping = $4::jsonb, source = $5 where run_id = $1`,
      [runId, chunk.lastRow, reading.header, JSON.stringify(reading.mapping), reading.source],
    );
    return chunk.lastRow;
  });
}

/** Marks a file as completely staged. A repetition changes nothing. */
async function finishStaging(pool: Pool, runId: string, rows: number, reading: ReadingRecord): Promise<void> {
  await inTransaction(pool, async (client) => {
    const { rowsStaged } = await lockRun(client, runId);
    if (rowsStaged !== rows)
      throw new Error(`run ${runId}: ${rowsStaged} rows are staged, the file has ${rows}`);
    await client.query(
      `update enrichment.runs set header = $2, mapping = $3::jsonb, source = $4,
        ingested_at = coalesce(ingested_at, clock_timestamp()) where run_id = $1`,
      [runId, reading.header, JSON.stringify(reading.mapping), reading.source],
    );
  });
}

async function lockRun(client: PoolClient, runId: string): Promise<{ rowsStaged: number }> {
  const found = await client.query<{ rows_staged: number; status: RunStatus }>(
    'select rows_staged, status from enrichment.runs where run_id = $1 for update',
    [runId],
  );
  const run = found.rows[0];
  if (!run) throw new Error(`run ${runId} does not exist`);
  // A worker that lost Temporal can still be staging when the run is cancelled: the row would have no outcome.
  if (isFinal(run.status))
    throw new Problem('run.ended', `run ${runId} has ended: no row of its export was added`, {
      where: `run:${runId}`,
      next: 'run the same file again',
    });
  return { rowsStaged: run.rows_staged };
}

async function inTransaction<Result>(
  pool: Pool,
  work: (client: PoolClient) => Promise<Result>,
): Promise<Result> {
  const client = await pool.connect();
  let broken: Error | undefined;
  try {
    await client.query('begin');
    const result = await work(client);
    await client.query('commit');
    return result;
  } catch (error) {
    broken = withoutCells(error);
    throw broken;
  } finally {
    // A connection that failed in the middle of a COPY is not used again; closing it rolls back.
    client.release(broken);
  }
}

/** The errors of PostgreSQL quote the line. Errors go to logs, which must have no cells. */
function withoutCells(error: unknown): Error {
  if (!(error instanceof Error)) return new Error('staging failed');
  if (error instanceof DatabaseError) Object.assign(error, { where: undefined, detail: undefined });
  return error;
}
