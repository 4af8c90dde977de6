import type { Pool } from 'pg';
import { counted } from '../../domain/text/counted.ts';
import { Chunk } from './chunk.ts';
import { describeColumns } from '../columns/recorded-mapping.ts';
import { readDataRecords } from '../reading/data-records.ts';
import { openExport, type ReadingOptions } from '../reading/open-export.ts';
import { AbsentValues, UnreadAnswers } from '../columns/opt-outs/read-opt-outs.ts';
import { createRowReader } from '../columns/read-row.ts';
import { finishStaging, stageChunk, type ReadingRecord } from './stage-chunk.ts';
import { changedExport, refuseChange } from '../reading/survey.ts';

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
/** Maximum number of malformed rows that a warning names. */
const shownFaults = 3;

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
  if (opened.survey.sha256 !== run.fileSha256) throw changedExport(path);
  const { header } = opened.layout;
  const { source } = opened.columns;
  const { mapping } = describeColumns(header, opened.columns);
  const reading: ReadingRecord = { header, mapping, source };
  const warnings = [...opened.warnings];

  const readRow = createRowReader(opened.columns);
  const unreadAnswers = new UnreadAnswers(opened.columns);
  const absentValues = new AbsentValues(opened.columns);
  let rows = 0;
  let malformed = 0;
  const examples: string[] = [];
  // One chunk is written while the other is filled, so that database and parser work at the same time.
  let filling = new Chunk(runId);
  let writing = new Chunk(runId);
  let staging: Promise<unknown> = Promise.resolve();
  const stageFilled = async (): Promise<void> => {
    await staging;
    signal?.throwIfAborted();
    [filling, writing] = [writing, filling];
    filling.clear();
    // The parser serves the connection only between two pieces of the file: it waits until COPY has begun.
    await new Promise<void>((onCopy) => {
      staging = stageChunk(pool, runId, writing, reading, onCopy).then(options.onProgress);
      // A later await reports the error; until then it must not be an unhandled rejection.
      staging.catch(() => {}).finally(onCopy);
    });
  };
  try {
    for await (const { records, faults } of readDataRecords(
      opened,
      (warning) => warnings.push(warning),
      signal,
    )) {
      for (let index = 0; index < records.length; index += 1) {
        rows += 1;
        const cells = records[index]!;
        const fault = faults.get(index);
        if (fault !== undefined) {
          malformed += 1;
          if (malformed <= shownFaults) examples.push(`row ${rows} (${fault})`);
        } else {
          unreadAnswers.add(cells, rows);
          absentValues.add(cells);
        }
        if (rows > run.rowsStaged) filling.add(readRow(cells, rows, fault));
      }
      if (filling.isFull) await stageFilled();
    }
    if (!filling.isEmpty) await stageFilled();
  } finally {
    await staging;
  }
  await refuseChange(opened.survey);
  await finishStaging(pool, runId, rows, reading);
  warnings.push(...unreadAnswers.warnings(header), ...absentValues.warnings(header));
  if (malformed > 0) {
    const which = `${malformed > shownFaults ? 'the first are ' : ''}${examples.join('; ')}`;
    warnings.push(`${counted(malformed, 'row')} cannot be read: ${which}`);
  }
  return { rows, malformed, source, warnings };
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
