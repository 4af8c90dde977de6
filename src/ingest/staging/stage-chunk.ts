import { pipeline } from 'node:stream/promises';
import { DatabaseError, type Pool, type PoolClient } from 'pg';
import { from as copyFrom } from 'pg-copy-streams';
import { isFinal, type RunStatus } from '../../contract/run-statuses.ts';
import { fieldOfColumn, identityColumns } from '../../domain/identity/identity.ts';
import { Problem } from '../../domain/problem.ts';
import type { StagedRow } from '../columns/read-row.ts';

/** About 8,000 rows of a CRM: a kill loses the work on at most two chunks, and no row. */
const usualBytes = 4 * 1024 * 1024;
/** For the rows of one piece of the file, which are added before the chunk is full. */
const spareBytes = 512 * 1024;

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
  'match_keys',
  'raw',
] as const;

/**
 * Consecutive rows of a run, in the text format of COPY. Rows are written as bytes: strings of them were a third of the
 * memory that staging allocated, and a quarter of its processor time.
 */
export class Chunk {
  readonly firstRow: number;
  readonly #runId: string;
  #memory = Buffer.allocUnsafeSlow(usualBytes + spareBytes);
  #used = 0;
  /** Where each row begins. */
  readonly #starts: number[] = [];

  constructor(runId: string, firstRow: number) {
    this.#runId = runId;
    this.firstRow = firstRow;
  }

  get isEmpty(): boolean {
    return this.#starts.length === 0;
  }

  get isFull(): boolean {
    return this.#used >= usualBytes;
  }

  get lastRow(): number {
    return this.firstRow + this.#starts.length - 1;
  }

  /** @param row the one behind the last row that is here */
  add(row: StagedRow): void {
    this.#starts.push(this.#used);
    this.#text(this.#runId);
    this.#field(`${row.rowNumber}`);
    this.#field(row.contactId);
    this.#field(row.outcome);
    this.#field(row.reason);
    for (const column of identityColumns) {
      const value = row.identity[fieldOfColumn[column]];
      if (typeof value === 'object') this.#list(brace, value, escapedItem, endBrace);
      else this.#field(value);
    }
    this.#field(row.optedOut ? 't' : 'f');
    this.#field(row.optedOutOfCalls ? 't' : 'f');
    this.#list(brace, row.keys, escapedItem, endBrace);
    this.#field(`{${row.matchKeys.join(',')}}`);
    this.#list(bracket, row.cells, escapedJson, endBracket);
    this.#byte(lineEnd);
  }

  /** What COPY reads for the rows behind this one, which is not the last. */
  copyOfRowsAfter(row: number): Buffer {
    return this.#memory.subarray(this.#starts[Math.max(0, row + 1 - this.firstRow)], this.#used);
  }

  #field(value: string | undefined): void {
    this.#byte(tab);
    if (value !== undefined) return this.#text(value);
    this.#byte(backslash);
    this.#byte(letterN);
  }

  #list(open: number, items: readonly string[], escape: Escape, close: number): void {
    this.#byte(tab);
    this.#byte(open);
    for (let at = 0; at < items.length; at += 1) {
      if (at > 0) this.#byte(comma);
      this.#byte(quote);
      this.#text(items[at]!, escape);
      this.#byte(quote);
    }
    this.#byte(close);
  }

  #byte(code: number): void {
    if (this.#used === this.#memory.length) this.#grow(1);
    this.#memory[this.#used] = code;
    this.#used += 1;
  }

  /**
   * Copies plain characters one by one, which takes less time than a call of `Buffer.write` for each short text.
   *
   * @param escape for other characters; a text with another than `escaped` stands in quotes
   */
  #text(text: string, escape = escaped): void {
    const { length } = text;
    if (this.#used + mostBytes * (length + 1) > this.#memory.length) this.#grow(mostBytes * (length + 1));
    const memory = this.#memory;
    let used = this.#used;
    for (let at = 0; at < length; at += 1) {
      const code = text.charCodeAt(at);
      if (code < 32 || code > 126 || code === backslash) {
        this.#used += memory.write(escape(text), this.#used);
        return;
      }
      if (code === quote && escape !== escaped) {
        memory[used] = backslash;
        memory[used + 1] = backslash;
        used += 2;
      }
      memory[used] = code;
      used += 1;
    }
    this.#used = used;
  }

  #grow(bytes: number): void {
    const larger = Buffer.allocUnsafeSlow(2 * (this.#used + bytes));
    this.#memory.copy(larger, 0, 0, this.#used);
    this.#memory = larger;
  }
}

const tab = 9;
const lineEnd = 10;
const quote = 34;
const comma = 44;
const letterN = 78;
const bracket = 91;
const backslash = 92;
const endBracket = 93;
const brace = 123;
const endBrace = 125;

type Escape = (text: string) => string;

/** Bytes of an escaped character: a lone surrogate becomes `\\\\ud800` in JSON within COPY. */
const mostBytes = 7;

const escaped: Escape = (text) => text.replace(/[\\\t\n\r]/g, (found) => escapes[found]!);

const escapes: Readonly<Record<string, string>> = { '\\': '\\\\', '\t': '\\t', '\n': '\\n', '\r': '\\r' };

/** An item of an array of PostgreSQL, in quotes. */
const escapedItem: Escape = (text) => escaped(text.replace(/["\\]/g, '\\$&'));

/** A text of JSON, in quotes. */
const escapedJson: Escape = (text) => escaped(JSON.stringify(text).slice(1, -1));

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
export async function stageChunk(
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
    const copy = client.query(copyFrom(`copy enrichment.run_rows (${copyColumns.join(', ')}) from stdin`));
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
export async function finishStaging(
  pool: Pool,
  runId: string,
  rows: number,
  reading: ReadingRecord,
): Promise<void> {
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
