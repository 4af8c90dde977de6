import type { RunInput, RefusedExport, ScheduledRunInput, ScheduledRuns } from '../contract/run-input.ts';
import { Problem, UsageProblem } from '../domain/problem.ts';
import { usualExpectations, usualExpectationsOfMixedFiles } from '../domain/runs/expectations.ts';
import { findExports, type FoundExport } from '../ingest/sources/find-export.ts';
import { obtainExport } from '../ingest/sources/obtain-export.ts';
import { removeStagedFile } from '../ingest/sources/staging-directory.ts';
import { approveRun, runInputOf, fileNameWithoutPersonalData, type RunRecord } from './runs.ts';
import { findOrBeginRun, wasRunBefore } from './begin-run.ts';
import { withDefaults, type RunDefaults, type RunOptions } from '../domain/runs/run-options.ts';
import { ingestRun, type IngestDependencies } from './ingest-run.ts';
import { withoutPersonalData } from '../domain/text/without-personal-data.ts';

export interface ScheduleDependencies extends IngestDependencies {
  readonly callConcurrency: number;
  readonly pollAfterSeconds: number;
  /** Defaults for options that the schedule leaves out. */
  readonly defaults: RunDefaults;
  /** True if this worker has a day or month budget. */
  readonly hasPeriodBudget: boolean;
}

/** Maximum number of runs per scheduled time: their list must fit into a payload. The next time begins the rest. */
const maxRuns = 200;

/**
 * Begins a run for each export of a scheduled time, and stages remote exports; a retry finds the same runs. With
 * `every-new`, an unreadable file does not stop the others, and each scheduled time tries it again.
 *
 * @param asOf the scheduled time, as ISO 8601
 * @throws Problem `credits.no-ceiling`, `export.*`
 */
export async function beginScheduledRuns(
  dependencies: ScheduleDependencies,
  input: ScheduledRunInput & { readonly asOf: string },
  signal: AbortSignal,
): Promise<ScheduledRuns> {
  const options = optionsOf(dependencies, input);
  if (options.maxCredits === null && !dependencies.hasPeriodBudget && !input.noBudget)
    // The settings of the worker count, not those of the command that created the schedule.
    throw new Problem('credits.no-ceiling', 'nothing limits what this schedule may spend', {
      where: `schedule ${input.schedule}`,
      next: 'give the schedule --max-credits or --no-budget, or the worker MAX_CREDITS_PER_RUN or a period budget',
    });
  const { exportAccess, callConcurrency, pollAfterSeconds } = dependencies;
  const { searchable } = input;
  const settings = { searchable, callConcurrency, pollAfterSeconds, checksService: true };
  const asOf = new Date(input.asOf);
  const onlyNew = input.export.kind === 'every-new';
  // Two files with the same content share one run.
  const begun = new Map<string, RunInput>();
  const refused: RefusedExport[] = [];
  const exports = await findExports(input.export, asOf, input.timezone, exportAccess);
  if (exports.length === 0 && input.export.kind === 'newest')
    throw new UsageProblem('export.missing', 'no file matches the pattern', {
      where: input.export.from,
      next: 'check that the export was written there, and that the worker sees the folder',
    });
  for (const found of exports) {
    if (begun.size === maxRuns) break;
    const run = await beginRunOf(dependencies, { found, options, asOf, onlyNew }, signal).catch(
      (error: unknown) => {
        // If the schedule has a single export, the error of this export is the error of the schedule.
        if (!onlyNew || !(error instanceof Problem && error.type.startsWith('export.'))) throw error;
        refused.push({
          file: fileNameWithoutPersonalData({ fileName: found.address.name }),
          reason: withoutPersonalData(error.sentence),
        });
        return undefined;
      },
    );
    if (run) begun.set(run.runId, runInputOf(run, settings));
  }
  return { runs: [...begun.values()], refused };
}

/** An export for which a run may begin. `onlyNew`: only if no earlier run has enriched its content. */
interface ExportToBegin {
  readonly found: FoundExport;
  readonly options: RunOptions;
  readonly asOf: Date;
  readonly onlyNew: boolean;
}

/** Begins the run of one export. @returns undefined if the export was enriched before */
async function beginRunOf(
  dependencies: ScheduleDependencies,
  { found, options, asOf, onlyNew }: ExportToBegin,
  signal: AbortSignal,
): Promise<RunRecord | undefined> {
  const { warehouse, exportAccess } = dependencies;
  const { address } = found;
  // An unchanged S3 object is not downloaded again. Local files are always read, because an older file can replace a
  // newer one.
  if (onlyNew && address.kind === 's3' && found.modified !== undefined) {
    const unchanged = { filePath: address.text, modifiedMilliseconds: found.modified };
    if (await wasRunBefore(warehouse, unchanged, options)) return undefined;
  }
  const { path, sha256 } = await obtainExport(address, exportAccess, signal);
  if (onlyNew && (await wasRunBefore(warehouse, { fileSha256: sha256 }, options))) {
    if (address.kind !== 'file') await removeStagedFile(path);
    return undefined;
  }
  const { run } = await findOrBeginRun(warehouse, {
    filePath: address.text,
    fileName: address.name,
    fileSha256: sha256,
    options,
    expectedPlanHash: null,
    asOf,
  });
  // Manual runs have another priority and therefore another key, so only runs of schedules are approved here.
  await approveRun(warehouse, run.runId);
  // If an export is refused, the workflow downloads it again and fails with the same error.
  if (address.kind !== 'file')
    await ingestRun(dependencies, run.runId, { fetched: path, signal, onProgress: () => {} });
  return run;
}

/** The options of the schedule, with defaults. Expectations have a default too, because no operator sees the plan. */
function optionsOf(
  { defaults }: Pick<ScheduleDependencies, 'defaults'>,
  input: ScheduledRunInput,
): RunOptions {
  return {
    ...withDefaults(input, defaults),
    schedule: input.schedule,
    priority: 'nightly',
    // Without credits, a scheduled run ends with rows `over_budget`. A waiting run would block later scheduled times,
    // and the next run calls for the remaining people.
    onBudget: input.onBudget ?? 'finish',
    expectations:
      input.expectations ??
      (input.export.kind === 'every-new' ? usualExpectationsOfMixedFiles : usualExpectations),
  };
}
