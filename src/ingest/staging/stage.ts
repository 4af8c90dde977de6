import { type Pool, DatabaseError, type PoolClient } from 'pg';
import { recordedMapping } from '../columns/fields.ts';
import { readDataRecords } from '../reading/data-records.ts';
import { openExport, type OpenedExport, type ReadingOptions } from '../reading/open-export.ts';
import { OptOutCounts } from '../columns/opt-outs.ts';
import { createRowReader, type StagedRow } from '../columns/read-row.ts';
import { rowsWorthAnalyzing } from '../../db/database.ts';
import { changedExport, refuseChange } from '../reading/export-bytes.ts';
import { counted, nounFor } from '../../domain/text/format.ts';
import { pipeline } from 'node:stream/promises';
import { from as copyFrom } from 'pg-copy-streams';
import { isFinal, type RunStatus } from '../../contract/run-transitions.ts';
import { fieldOfColumn, identityColumns } from '../../domain/identity/identity.ts';
import { Problem, UsageProblem } from '../../domain/problem.ts';

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
  const opened = await openExport(path, options);
  const stagedBefore = await beginStaging(pool, runId, opened);
  const width = opened.layout.header.length;
  const warnings = [...opened.warnings];

  const readRow = createRowReader(opened.columns);
  const optOuts = new OptOutCounts(opened.columns.optOuts);
  const faults: string[] = [];
  let malformed = 0;
  let short = 0;
  const chunks = new ChunkWriter(runId, stagedBefore + 1, signal, (chunk, onCopy) =>
    stageChunk(pool, runId, chunk, onCopy).then(options.onProgress),
  );
  let rows = 0;
  try {
    const onWarning = (warning: string): void => void warnings.push(warning);
    for await (const records of readDataRecords(opened, onWarning, signal)) {
      const staged: StagedRow[] = [];
      for (const { cells, fault } of records) {
        rows += 1;
        if (fault === undefined) optOuts.add(cells);
        else {
          malformed += 1;
          if (cells.length < width) short += 1;
          if (faults.length < shownFaults) faults.push(`row ${rows} (${fault})`);
        }
        if (rows > stagedBefore) staged.push(readRow(cells, rows, fault));
      }
      await chunks.add(staged);
    }
    await chunks.writeRest();
  } finally {
    await chunks.close();
  }
  await refuseChange(path, opened.file.state);
  if (rows > 0 && malformed === rows) throw noReadableRow(path, rows, faults[0]!);
  await finishStaging(pool, runId, rows);
  // The rows can fill pages that retention has emptied, and that older statistics count as empty: the plan then expects
  // one row of the run.
  if (rows > rowsWorthAnalyzing) await pool.query('analyze enrichment.run_rows (row_number)');
  warnings.push(...optOuts.warnings());
  if (malformed > 0)
    warnings.push(
      `${counted(malformed, 'row')} cannot be read (rows are counted below the header): ` +
        `${malformed > shownFaults ? 'the first are ' : ''}${faults.join('; ')}`,
    );
  if (short > 0)
    warnings.push(
      `${counted(short, 'row')} ${nounFor(short, 'has', 'have')} too few cells; if only empty cells at the end are ` +
        'missing, read the file with --short-rows fill',
    );
  return { rows, malformed, source: opened.columns.source, warnings };
}

function noReadableRow(path: string, rows: number, fault: string): UsageProblem {
  return new UsageProblem('export.no-readable-row', `none of ${counted(rows, 'row')} can be read: ${fault}`, {
    where: path,
    next: 'export the contacts again; if only empty cells at the end of rows are missing, add --short-rows fill',
  });
}

/** Maximum number of malformed rows that a warning names. */
const shownFaults = 3;

/** Consecutive rows of a run, in the text format of COPY. */
interface Chunk {
  readonly firstRow: number;
  readonly lastRow: number;
  readonly lines: Buffer;
}

/**
 * About 16,000 rows of a CRM: a kill loses the work on at most two chunks, and no row. With 4,000 rows, the parser
 * waited for the statements around each chunk.
 */
const chunkBytes = 8 * 1024 * 1024;

/**
 * Writes rows in chunks. One chunk is written while the other is filled, so that database and parser work at the same
 * time. Rows are kept as bytes: the garbage collector would copy lines of text until they are written, and took a third
 * of the time.
 */
class ChunkWriter {
  readonly #runId: string;
  readonly #signal: AbortSignal | undefined;
  readonly #write: (chunk: Chunk, onCopy: () => void) => Promise<unknown>;
  #firstRow: number;
  #rows = 0;
  #pieces: Buffer[] = [];
  #bytes = 0;
  #written: Promise<unknown> = Promise.resolve();

  /** @param write writes a chunk, and calls `onCopy` when COPY begins */
  constructor(
    runId: string,
    firstRow: number,
    signal: AbortSignal | undefined,
    write: (chunk: Chunk, onCopy: () => void) => Promise<unknown>,
  ) {
    this.#runId = runId;
    this.#firstRow = firstRow;
    this.#signal = signal;
    this.#write = write;
  }

  /** @param rows those behind the last rows */
  async add(rows: readonly StagedRow[]): Promise<void> {
    if (rows.length === 0) return;
    const piece = Buffer.from(`${rows.map((row) => copyLine(this.#runId, row)).join('\n')}\n`);
    this.#pieces.push(piece);
    this.#rows += rows.length;
    this.#bytes += piece.length;
    if (this.#bytes >= chunkBytes) await this.writeRest();
  }

  async writeRest(): Promise<void> {
    await this.#written;
    this.#signal?.throwIfAborted();
    if (this.#rows === 0) return;
    const lastRow = this.#firstRow + this.#rows - 1;
    const chunk = { firstRow: this.#firstRow, lastRow, lines: Buffer.concat(this.#pieces) };
    [this.#firstRow, this.#rows, this.#pieces, this.#bytes] = [lastRow + 1, 0, [], 0];
    // The parser serves the connection only between two pieces of the file: it waits until COPY has begun.
    await new Promise<void>((onCopy) => {
      this.#written = this.#write(chunk, onCopy);
      // A later await reports the error; until then it must not be an unhandled rejection.
      this.#written.catch(() => {}).finally(onCopy);
    });
  }

  /** Waits until the last chunk is written. */
  async close(): Promise<void> {
    await this.#written;
  }
}

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

/** Stores how the file is read. @returns the number of rows that are staged already */
async function beginStaging(
  pool: Pool,
  runId: string,
  { file, layout, columns }: OpenedExport,
): Promise<number> {
  return inTransaction(pool, async (client) => {
    const { rowsStaged, fileSha256 } = await lockRun(client, runId);
    if (fileSha256 !== file.sha256) throw changedExport(file.path);
    const mapping = JSON.stringify(recordedMapping(layout.header, columns));
    await client.query(
      'update enrichment.runs set header = $2, mapping = $3::jsonb, source = $4 where run_id = $1',
      [runId, layout.header, mapping, columns.source],
    );
    return rowsStaged;
  });
}

const lineFeed = 0x0a;

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
  { firstRow, lastRow, lines }: Chunk,
  onCopy: () => void,
): Promise<number> {
  return inTransaction(pool, async (client) => {
    // A crash of the server loses rows only together with their count. The commit of finishStaging waits for the disk.
    await client.query('set local synchronous_commit = off');
    const { rowsStaged } = await lockRun(client, runId);
    if (rowsStaged >= lastRow) return rowsStaged;
    if (rowsStaged < firstRow - 1) throw new Error(`run ${runId}: rows before ${firstRow} are missing`);
    let start = 0;
    for (let row = firstRow; row <= rowsStaged; row += 1) start = lines.indexOf(lineFeed, start) + 1;
    const copy = client.query(copyFrom(copyRows));
    onCopy();
    // In one piece: between two the stream waits until the socket is served, and the parser lets nothing be served for
    // long.
    await pipeline([lines.subarray(start)], copy);
    await client.query('update enrichment.runs set rows_staged = $2 where run_id = $1', [runId, lastRow]);
    return lastRow;
  });
}

/** Marks a file as completely staged. A repetition changes nothing. */
async function finishStaging(pool: Pool, runId: string, rows: number): Promise<void> {
  await inTransaction(pool, async (client) => {
    const { rowsStaged } = await lockRun(client, runId);
    if (rowsStaged !== rows)
      throw new Error(`run ${runId}: ${rowsStaged} rows are staged, the file has ${rows}`);
    await client.query(
      'update enrichment.runs set ingested_at = coalesce(ingested_at, clock_timestamp()) where run_id = $1',
      [runId],
    );
  });
}

async function lockRun(
  client: PoolClient,
  runId: string,
): Promise<{ readonly rowsStaged: number; readonly fileSha256: string }> {
  const found = await client.query<{ rows_staged: number; file_sha256: string; status: RunStatus }>(
    'select rows_staged, file_sha256, status from enrichment.runs where run_id = $1 for update',
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
  return { rowsStaged: run.rows_staged, fileSha256: run.file_sha256 };
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
