import { pipeline } from 'node:stream/promises';
import { type Pool, DatabaseError, type PoolClient } from 'pg';
import { from as copyFrom } from 'pg-copy-streams';
import { minRowsToAnalyze } from '../../db/database.ts';
import { unfinishedCondition } from '../../db/run-states.ts';
import { fieldOfColumn, identityColumns } from '../../domain/identity/identity.ts';
import { Problem, UsageProblem } from '../../domain/problem.ts';
import { formatCount, nounFor } from '../../domain/text/format.ts';
import { recordedMapping } from '../columns/fields.ts';
import { countOptOuts } from '../columns/opt-outs.ts';
import { createRowReader, type StagedRow } from '../columns/read-row.ts';
import { readDataRecords } from '../reading/data-records.ts';
import { changedExportProblem, refuseChangedFile } from '../reading/export-bytes.ts';
import { openExport, type OpenedExport, type ReadingOptions } from '../reading/open-export.ts';

export interface StagingOptions extends ReadingOptions {
  readonly pool: Pool;
  /** The run. Its `file_sha256` is the hash of the content to read. */
  readonly runId: string;
  readonly path: string;
  readonly onProgress?: ((rows: number) => void) | undefined;
}

export type StagedExport = NonNullable<Awaited<ReturnType<typeof stageExport>>>;

/** Streams an export into `run_rows` in one transaction; a second process waits. Undefined if already staged. */
export async function stageExport(options: StagingOptions) {
  const { pool, runId, path, signal } = options;
  const opened = await openExport(path, options);
  const staged = await inTransaction(pool, async (client) => {
    await client.query('select pg_advisory_xact_lock($1, hashtext($2))', [stagingLock, runId]);
    const { rows } = await client.query<{ file_sha256: string; ingested_at: Date | null }>(
      'select file_sha256, ingested_at from enrichment.runs where run_id = $1',
      [runId],
    );
    if (rows[0]!.ingested_at !== null) return undefined;
    if (rows[0]!.file_sha256 !== opened.file.sha256) throw changedExportProblem(path);
    const figures = createFigures(opened);
    await pipeline(copyLines(runId, opened, figures, options), client.query(copyFrom(copyRows)), {
      ...(signal && { signal }),
    });
    await refuseChangedFile(path, opened.file.state);
    figures.refuseUnreadable(path);
    await finishStaging(client, runId, opened, figures.counts.rows);
    return figures;
  });
  if (staged === undefined) return undefined;
  const { rows, malformed } = staged.counts;
  // After many inserts, the statistics are wrong: PostgreSQL would expect a single row of the run.
  if (rows > minRowsToAnalyze) await pool.query('analyze enrichment.run_rows (row_number)');
  return { rows, malformed, source: opened.columns.source, warnings: staged.warnings() };
}

/** First number of the advisory lock for staging. The second number is a hash of the run's id. */
const stagingLock = 730_591;

/** Maximum number of malformed rows that a warning names. */
const shownFaults = 3;

type StagingFigures = ReturnType<typeof createFigures>;

/** Counts the rows of an export and collects its warnings. */
function createFigures({ layout, columns, warnings: found }: OpenedExport) {
  const counts = { rows: 0, malformed: 0 };
  const optOuts = countOptOuts(columns.optOuts);
  const warnings = [...found];
  const faults: string[] = [];
  let short = 0;
  return {
    counts,
    onWarning: (warning: string): void => void warnings.push(warning),
    add: (cells: readonly string[], fault: string | undefined): void => {
      counts.rows += 1;
      if (fault === undefined) return optOuts.add(cells);
      counts.malformed += 1;
      if (cells.length < layout.header.length) short += 1;
      if (faults.length < shownFaults) faults.push(`row ${counts.rows} (${fault})`);
    },
    /** Refuses an export without a readable row. @throws Problem `export.no-readable-row` */
    refuseUnreadable: (where: string): void => {
      if (counts.rows === 0 || counts.malformed < counts.rows) return;
      const what = `none of ${formatCount(counts.rows, 'row')} can be read: ${faults[0]}`;
      throw new UsageProblem('export.no-readable-row', what, {
        where,
        next: 'export the contacts again; if only empty cells at the end of rows are missing, add --short-rows fill',
      });
    },
    warnings: (): string[] => {
      const { malformed } = counts;
      const unread =
        `${formatCount(malformed, 'row')} cannot be read (rows are counted below the header): ` +
        `${malformed > shownFaults ? 'the first are ' : ''}${faults.join('; ')}`;
      const tooShort =
        `${formatCount(short, 'row')} ${nounFor(short, 'has', 'have')} too few cells; ` +
        'if only empty cells at the end are missing, read the file with --short-rows fill';
      return [
        ...warnings,
        ...optOuts.warnings(),
        ...(malformed > 0 ? [unread] : []),
        ...(short > 0 ? [tooShort] : []),
      ];
    },
  };
}

/** Makes lines for COPY, as bytes: garbage collection of strings took a third of the time. */
async function* copyLines(
  runId: string,
  opened: OpenedExport,
  figures: StagingFigures,
  { signal, onProgress }: StagingOptions,
): AsyncGenerator<Buffer> {
  const readRow = createRowReader(opened.columns);
  for await (const records of readDataRecords(opened, figures.onWarning, signal)) {
    const lines = records.map(({ cells, fault }) => {
      figures.add(cells, fault);
      return copyLine(runId, readRow(cells, figures.counts.rows, fault));
    });
    if (lines.length > 0) yield Buffer.from(`${lines.join('\n')}\n`);
    onProgress?.(figures.counts.rows);
  }
}

/** Columns of `enrichment.run_rows`, in the order of `copyLine`. */
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

/** Formats a row for COPY. Columns are separated by tabs, in the order of `copyColumns`. */
function copyLine(runId: string, row: StagedRow): string {
  const fields = [runId, String(row.rowNumber), row.contactId, row.outcome, row.reason];
  for (const column of identityColumns) {
    const value = row.identity[fieldOfColumn[column]];
    fields.push(typeof value === 'object' ? arrayOf(value) : value);
  }
  fields.push(row.optedOut ? 't' : 'f', row.optedOutOfCalls ? 't' : 'f', arrayOf(row.keys));
  const head = fields.join('\t');
  // JSON escapes control characters and lone surrogates, which PostgreSQL refuses in text.
  const cells = JSON.stringify(row.cells);
  return `${special.test(head) ? fields.map(escaped).join('\t') : head}\t${escaped(cells)}`;
}

/** Matches what COPY needs escaped. One test covers a line: few lines have it, and normalised texts have no tabs. */
const special = /[\\\n\r]/;
const escapes: Readonly<Record<string, string>> = { '\\': '\\\\', '\t': '\\t', '\n': '\\n', '\r': '\\r' };

/** Escapes a field for COPY. An empty text means null, because no value is empty. */
function escaped(text = ''): string {
  return special.test(text) ? text.replace(/[\\\t\n\r]/g, (found) => escapes[found]!) : text;
}

/** Formats a list as an array of PostgreSQL. */
function arrayOf(items: readonly string[]): string {
  const quoted = items.map((item) => (/["\\]/.test(item) ? item.replace(/["\\]/g, '\\$&') : item));
  return items.length === 0 ? '{}' : `{"${quoted.join('","')}"}`;
}

/** Marks the run as staged. @throws Problem `run.ended` if the run was cancelled meanwhile */
async function finishStaging(
  client: PoolClient,
  runId: string,
  { layout, columns }: OpenedExport,
  rows: number,
): Promise<void> {
  const { rowCount } = await client.query(
    `update enrichment.runs
     set header = $2, mapping = $3::jsonb, source = $4, rows_staged = $5, ingested_at = clock_timestamp()
     where run_id = $1 and ${unfinishedCondition}`,
    [runId, layout.header, JSON.stringify(recordedMapping(layout.header, columns)), columns.source, rows],
  );
  // The run was cancelled while its rows were being staged.
  if (rowCount === 0)
    throw new Problem('run.ended', `run ${runId} has ended: no row of its export was added`, {
      where: `run:${runId}`,
      next: 'run the same file again',
    });
}

async function inTransaction<Result>(
  pool: Pool,
  work: (client: PoolClient) => Promise<Result>,
): Promise<Result> {
  const client = await pool.connect();
  try {
    await client.query('begin');
    const result = await work(client);
    await client.query('commit');
    return result;
  } catch (error) {
    // PostgreSQL's errors quote the line of COPY. Errors are logged, and logs must not contain cells.
    if (error instanceof DatabaseError) Object.assign(error, { where: undefined, detail: undefined });
    throw error;
  } finally {
    // Closing the connection rolls back a transaction that failed within a COPY.
    client.release(true);
  }
}
