import { setFlagsFromString } from 'node:v8';
import type { Pool } from 'pg';
import { ChunkWriter } from './chunk-writer.ts';
import { MalformedRows } from './malformed-rows.ts';
import { recordedMapping } from '../columns/mapping/recorded-mapping.ts';
import { readDataRecords } from '../reading/data-records.ts';
import { openExport, type ReadingOptions } from '../reading/open-export.ts';
import { AbsentValues, UnreadAnswers } from '../columns/opt-outs/read-opt-outs.ts';
import { createRowReader } from '../columns/rows/read-row.ts';
import { finishStaging, stageChunk, type ReadingRecord } from './stage-chunk.ts';
import { rowsWorthAnalyzing } from '../../db/rows-worth-analyzing.ts';
import { changedExport, refuseChange } from '../reading/bytes/survey.ts';

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
  letRecordsDieYoung();
  const { pool, runId, path, signal } = options;
  const run = await readRun(pool, runId);
  const opened = await openExport(path, options);
  if (opened.survey.sha256 !== run.fileSha256) throw changedExport(path);
  const { header } = opened.layout;
  const { source } = opened.columns;
  const reading: ReadingRecord = { header, mapping: recordedMapping(header, opened.columns), source };
  const warnings = [...opened.warnings];

  const readRow = createRowReader(opened.columns);
  const unreadAnswers = new UnreadAnswers(opened.columns);
  const absentValues = new AbsentValues(opened.columns);
  const malformed = new MalformedRows();
  const chunks = new ChunkWriter(
    runId,
    (chunk, onCopy) => stageChunk(pool, runId, chunk, reading, onCopy).then(options.onProgress),
    signal,
  );
  let rows = 0;
  try {
    const onWarning = (warning: string): void => void warnings.push(warning);
    for await (const { records, faults, lineOf } of readDataRecords(opened, onWarning, signal)) {
      for (const [index, cells] of records.entries()) {
        rows += 1;
        const fault = faults.get(index);
        if (fault === undefined) {
          unreadAnswers.add(cells, rows, () => lineOf(index));
          absentValues.add(cells);
        } else {
          malformed.add(rows, fault, () => lineOf(index));
        }
        if (rows > run.rowsStaged) chunks.add(readRow(cells, rows, fault));
      }
      await chunks.writeIfFull();
    }
    await chunks.writeRest();
  } finally {
    await chunks.close();
  }
  await refuseChange(opened.survey);
  await finishStaging(pool, runId, rows, reading);
  // The rows can fill pages that retention has emptied, and that older statistics count as empty: the plan then expects
  // one row of the run.
  if (rows > rowsWorthAnalyzing) await pool.query('analyze enrichment.run_rows (row_number)');
  warnings.push(...unreadAnswers.warnings(header), ...absentValues.warnings(header), ...malformed.warnings());
  return { rows, malformed: malformed.count, source, warnings };
}

/**
 * If V8's first collections find the records of the sample alive, V8 allocates all later records among long-lived
 * objects. Which files this happens to is chance. Staging then took 10 to 20 % more processor time, and 80 MB (Node 20)
 * to 130 MB (Node 24) more memory.
 */
function letRecordsDieYoung(): void {
  setFlagsFromString('--no-allocation-site-pretenuring');
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
