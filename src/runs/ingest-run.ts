import type { IngestOutcome } from '../contract/activities.ts';
import type { StatusReason } from '../contract/pause-reasons.ts';
import { Problem } from '../domain/problem.ts';
import { parseAddress } from '../ingest/sources/export-address.ts';
import { findContent, isElsewhere, type ExportAccess } from '../ingest/sources/obtain-export.ts';
import { namingExport } from '../ingest/reading/open-export.ts';
import { StagingDirectory } from '../ingest/sources/staging-directory.ts';
import { stageExport } from '../ingest/staging/stage.ts';
import { withoutPersonalData } from '../domain/text/without-personal-data.ts';
import type { Warehouse } from '../db/database.ts';
import {
  countMalformedRows,
  getRun,
  isContentAwaited,
  saveWarnings,
  sourceOf,
  type RunRecord,
} from './runs.ts';

export interface IngestDependencies {
  readonly warehouse: Warehouse;
  readonly exportAccess: ExportAccess;
  /** Told how many more rows are staged. */
  readonly onIngested?: ((rows: number) => void) | undefined;
}

interface IngestOptions {
  /** Path of the export that this process has fetched for the run; removed after staging. */
  readonly fetched?: string | undefined;
  readonly signal: AbortSignal;
  readonly onProgress: (rowsStaged: number) => void;
}

/** What staging comes to. Without `problem`, an activity returns it to the workflow. */
type StagedRun =
  | Extract<IngestOutcome, { kind: 'ingested' }>
  | (Extract<IngestOutcome, { kind: 'refused' }> & {
      readonly problem: Problem;
    });

/**
 * Stages the export of a run, from where an earlier try stopped. A staged export is not read again. Then removes the
 * fetched file: its rows are in the warehouse, or the export is refused.
 *
 * @returns `refused` if the export has an error: nothing was paid, and another try has the same result
 */
export async function ingestRun(
  dependencies: IngestDependencies,
  runId: string,
  options: IngestOptions,
): Promise<StagedRun> {
  const outcome = await stageRun(dependencies, runId, options);
  await forgetContent(dependencies, runId);
  return outcome;
}

/** As `ingestRun`, but keeps the fetched file of a refused export for the workflow of the run, which reads it again. */
export async function stageRun(
  { warehouse, exportAccess, onIngested = () => {} }: IngestDependencies,
  runId: string,
  options: IngestOptions,
): Promise<StagedRun> {
  const run = await getRun(warehouse, runId);
  if (run.ingestedAt !== null) {
    if (options.fetched !== undefined)
      await new StagingDirectory(exportAccess.stagingDirectory).remove(options.fetched);
    return ingested(warehouse, run);
  }
  let counted = run.rowsStaged;
  try {
    const path = await findContent(run, exportAccess, options);
    const staged = await namingExport(path, parseAddress(run.filePath, '/').shown, () =>
      stageExport({
        pool: warehouse.pool,
        runId,
        path,
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
    if (staged.warnings.length > 0) await saveWarnings(warehouse, runId, staged.warnings);
    return { kind: 'ingested', rows: staged.rows, malformed: staged.malformed, source: staged.source };
  } catch (error) {
    if (!(error instanceof Problem) || error.type.startsWith('database.')) throw error;
    // Another process may have staged the export meanwhile, and removed the fetched file.
    const now = await getRun(warehouse, runId);
    return now.ingestedAt === null
      ? { kind: 'refused', pauseReason: asPauseReason(error, run.options.schedule), problem: error }
      : ingested(warehouse, now);
  }
}

async function ingested(
  warehouse: Warehouse,
  run: RunRecord,
): Promise<Extract<IngestOutcome, { kind: 'ingested' }>> {
  const malformed = await countMalformedRows(warehouse, run.runId);
  return { kind: 'ingested', rows: run.rowsStaged, malformed, source: sourceOf(run) };
}

/** Removes the fetched file of a run, and files of killed processes that no run waits for. */
export async function forgetContent(
  { warehouse, exportAccess }: IngestDependencies,
  runId: string,
): Promise<void> {
  const { filePath, fileSha256 } = await getRun(warehouse, runId);
  if (!isElsewhere(parseAddress(filePath, '/'))) return;
  const staging = new StagingDirectory(exportAccess.stagingDirectory);
  await staging.remove(staging.pathOf(fileSha256, runId));
  for (const { path, sha256 } of await staging.abandoned()) {
    if (!(await isContentAwaited(warehouse, sha256))) await staging.remove(path);
  }
}

function asPauseReason(problem: Problem, schedule: string | null): StatusReason {
  const needsMapping = problem.type.startsWith('mapping.') || problem.next.includes('--mapping');
  return {
    type: problem.type,
    // Temporal stores the reason: text quoted from the file may name a person.
    reason: withoutPersonalData(problem.sentence),
    next:
      schedule !== null && needsMapping
        ? `${problem.next}; then: enrich schedule set ${schedule} … --mapping FILE`
        : problem.next,
  };
}
