import { sql } from 'kysely';
import type { IngestOutcome } from '../contract/activities.ts';
import type { StatusReason } from '../contract/pause-reasons.ts';
import { Problem } from '../domain/problem.ts';
import { parseAddress } from '../ingest/sources/export-address.ts';
import { findExportContent, type ExportAccess } from '../ingest/sources/obtain-export.ts';
import { withOriginalName } from '../ingest/reading/open-export.ts';
import { removeAbandonedFiles, removeStagedFile } from '../ingest/sources/staging-directory.ts';
import { stageExport } from '../ingest/staging/stage.ts';
import { withoutPersonalData } from '../domain/text/without-personal-data.ts';
import type { Warehouse } from '../db/database.ts';
import { getRun, sourceOfRun, type RunRecord } from './runs.ts';

export interface IngestDependencies {
  readonly warehouse: Warehouse;
  readonly exportAccess: ExportAccess;
  /** Called with the number of newly staged rows. */
  readonly onIngested?: ((rows: number) => void) | undefined;
}

interface IngestOptions {
  /** Path of the downloaded export. The file is removed after staging. */
  readonly fetched?: string | undefined;
  readonly signal: AbortSignal;
  readonly onProgress: (rowsStaged: number) => void;
}

/** A refusal of a run. An activity returns it to the workflow, without the `problem` for display. */
export type RefusedRun = Extract<IngestOutcome, { kind: 'refused' }> & { readonly problem: Problem };

type StagedRun = Extract<IngestOutcome, { kind: 'ingested' }> | RefusedRun;

/** Stages the export of a run, unless it is staged, and removes the downloaded file. A refused export costs nothing. */
export async function ingestRun(
  { warehouse, exportAccess, onIngested = () => {} }: IngestDependencies,
  runId: string,
  options: IngestOptions,
): Promise<StagedRun> {
  const run = await getRun(warehouse, runId);
  const address = parseAddress(run.filePath, '/');
  let path = options.fetched;
  let counted = 0;
  try {
    if (run.ingestedAt !== null) return await ingested(warehouse, run);
    const content = await findExportContent(run, exportAccess, options);
    path = content;
    const staged = await withOriginalName(content, address.shown, () =>
      stageExport({
        pool: warehouse.pool,
        runId,
        path: content,
        mapping: run.options.mapping ?? undefined,
        source: run.options.source ?? undefined,
        onProgress: (rows) => {
          options.onProgress(rows);
          onIngested(rows - counted);
          counted = rows;
        },
        signal: options.signal,
      }),
    );
    if (staged !== undefined && staged.warnings.length > 0)
      await sql`update runs set warnings = ${staged.warnings} where run_id = ${runId}`.execute(
        warehouse.database,
      );
    return await ingested(warehouse, await getRun(warehouse, runId));
  } catch (error) {
    if (!(error instanceof Problem) || error.type.startsWith('database.')) throw error;
    // Another process may have staged the export in the meantime.
    const now = await getRun(warehouse, runId);
    return now.ingestedAt === null
      ? { kind: 'refused', pauseReason: asPauseReason(error, run.options.schedule), problem: error }
      : await ingested(warehouse, now);
  } finally {
    if (address.kind !== 'file') {
      if (path !== undefined) await removeStagedFile(path);
      await removeAbandonedFiles(exportAccess.stagingDirectory);
    }
  }
}

/** The result for a staged run, also if an earlier try has staged it. */
async function ingested(
  warehouse: Warehouse,
  run: RunRecord,
): Promise<Extract<IngestOutcome, { kind: 'ingested' }>> {
  const { rows } = await sql<{ malformed: number }>`
    select count(*)::int as malformed from run_rows where run_id = ${run.runId} and outcome = 'malformed'
  `.execute(warehouse.database);
  return { kind: 'ingested', rows: run.rowsStaged, ...rows[0]!, source: sourceOfRun(run) };
}

/** Converts the refusal of an export to a reason that the workflow stores. */
function asPauseReason(problem: Problem, schedule: string | null): StatusReason {
  const needsMapping = problem.type.startsWith('mapping.') || problem.next.includes('--mapping');
  return {
    type: problem.type,
    // Temporal stores the reason, and text that is quoted from the file may name a person. `next` quotes no cells.
    reason: withoutPersonalData(problem.sentence),
    next:
      schedule !== null && needsMapping
        ? `${problem.next}; then: enrich schedule set ${schedule} … --mapping FILE`
        : problem.next,
  };
}
