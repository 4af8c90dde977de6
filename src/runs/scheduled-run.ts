import type { RunInput, ScheduledRunInput, ScheduledRuns } from '../contract.ts';
import { Problem } from '../domain/problem.ts';
import { addressName, addressText } from '../ingest/sources/export-address.ts';
import { findExports, type FoundExport } from '../ingest/sources/find-export.ts';
import { isStillAt } from '../ingest/sources/http-export.ts';
import { isElsewhere, obtainExport, type ExportAccess } from '../ingest/sources/obtain-export.ts';
import { StagingDirectory } from '../ingest/sources/staging-directory.ts';
import type { Warehouse } from '../db/database.ts';
import { recallContent, recallEtag, recordContent } from './fetched-exports.ts';
import { findOrBeginRun, wasRunBefore, type RunSpec } from './begin-run.ts';
import type { RunOptions } from '../db/schema.ts';
import { forgetContent, stageRun } from './ingest-run.ts';
import { runInputOf } from './run-input.ts';

export interface ScheduleDependencies {
  readonly warehouse: Warehouse;
  readonly exportAccess: ExportAccess;
  readonly callConcurrency: number;
  readonly pollAfterSeconds: number;
  /** What counts where a schedule says nothing. */
  readonly defaults: Pick<RunOptions, 'service' | 'maxCredits' | 'freshness' | 'lateDeadlineSeconds'>;
  /** This worker has a limit for the day or the month. */
  readonly hasPeriodBudget: boolean;
}

/** One night begins at most so many runs: their list has to fit a payload, and a night has an end. */
const mostRuns = 200;

/**
 * Finds what a schedule has to enrich at a time, and begins the runs: with the schedule's own budget, approved, behind
 * ad hoc runs and before backfills. Spends nothing. Given again it finds the same runs, as far as they are unfinished.
 *
 * What lies elsewhere is staged here as well, by the worker that has fetched it: it is fetched once, takes the disk of
 * one export at a time, and is what it was at that moment.
 *
 * @param asOf the time that the schedule stands for, as ISO 8601
 * @throws Problem `credits.no-ceiling`, `export.*`
 */
export async function beginScheduledRuns(
  dependencies: ScheduleDependencies,
  input: ScheduledRunInput & { readonly asOf: string },
  signal: AbortSignal,
): Promise<ScheduledRuns> {
  const options = optionsOf(dependencies, input);
  if (options.maxCredits === null && !dependencies.hasPeriodBudget && !input.noBudget)
    throw noBudget(input.schedule);
  const { warehouse, exportAccess, callConcurrency, pollAfterSeconds } = dependencies;
  const asOf = new Date(input.asOf);
  const onlyNew = input.export.kind === 'every-new';
  // Two files with the same content are one run.
  const begun = new Map<string, RunInput>();
  let left = 0;
  for (const found of await findExports(input.export, asOf, input.timezone, exportAccess)) {
    const { address } = found;
    const known = onlyNew ? await knownContent(dependencies, found, signal) : undefined;
    if (known !== undefined && (await wasRunBefore(warehouse, { fileSha256: known, options }))) continue;
    // Fetching it only to see whether it is new would be for the next time as well.
    if (begun.size === mostRuns && isElsewhere(address)) {
      left += 1;
      continue;
    }
    const { path, sha256, etag } = await obtainExport(address, exportAccess, signal);
    if (etag !== undefined) await recordContent(warehouse, { address: addressText(address), etag, sha256 });
    const spec: RunSpec = {
      filePath: addressText(address),
      fileName: addressName(address),
      fileSha256: sha256,
      options,
      expectedPlanHash: null,
      asOf,
    };
    if (onlyNew && (await wasRunBefore(warehouse, spec))) {
      if (isElsewhere(address)) await new StagingDirectory(exportAccess.stagingDirectory).remove(path);
      continue;
    }
    if (begun.size === mostRuns) {
      left += 1;
      continue;
    }
    const { run } = await findOrBeginRun(warehouse, spec);
    // Where it is refused, the run's own workflow finds the same, and is the one that fails.
    if (isElsewhere(address)) {
      const reading = { fetched: path, signal, onProgress: () => {} };
      const { kind } = await stageRun(dependencies, run.runId, reading);
      if (kind === 'ingested') await forgetContent(dependencies, run.runId);
    }
    const { searchable } = input;
    const settings = { approved: true, searchable, callConcurrency, pollAfterSeconds, checksService: true };
    begun.set(run.runId, runInputOf(run, settings));
  }
  return { runs: [...begun.values()], left };
}

/**
 * Those of the exports that were found that `every-new` would begin a run of, as far as it can be said without fetching
 * any: a file is read for its hash, and of what lies elsewhere the version has to be known.
 */
export async function withoutEnriched(
  dependencies: Pick<ScheduleDependencies, 'warehouse' | 'exportAccess'>,
  found: readonly FoundExport[],
  options: RunOptions,
  signal = new AbortController().signal,
): Promise<FoundExport[]> {
  const { warehouse, exportAccess } = dependencies;
  const left: FoundExport[] = [];
  const contents = new Set<string>();
  for (const each of found) {
    const sha256 = isElsewhere(each.address)
      ? await knownContent(dependencies, each, signal)
      : (await obtainExport(each.address, exportAccess, signal)).sha256;
    if (sha256 !== undefined) {
      if (contents.has(sha256) || (await wasRunBefore(warehouse, { fileSha256: sha256, options }))) continue;
      contents.add(sha256);
    }
    left.push(each);
  }
  return left;
}

/** The hash of an export, where its version says that it is what was fetched before. */
async function knownContent(
  { warehouse, exportAccess }: Pick<ScheduleDependencies, 'warehouse' | 'exportAccess'>,
  { address, etag }: FoundExport,
  signal: AbortSignal,
): Promise<string | undefined> {
  const text = addressText(address);
  if (etag !== undefined) return recallContent(warehouse, text, etag);
  if (address.kind !== 'http') return undefined;
  const before = await recallEtag(warehouse, text);
  if (before === undefined || !(await isStillAt(address, before, exportAccess, signal))) return undefined;
  return recallContent(warehouse, text, before);
}

/** What the runs of a schedule ask for, and in which manner. */
export function optionsOf(
  { defaults }: Pick<ScheduleDependencies, 'defaults'>,
  input: Omit<ScheduledRunInput, 'schedule' | 'timezone' | 'searchable' | 'export'>,
): RunOptions {
  return {
    service: defaults.service,
    source: input.source,
    mapping: input.mapping,
    maxCredits: input.maxCredits ?? defaults.maxCredits,
    reveal: input.reveal,
    waterfall: input.waterfall,
    maxCreditsPerPerson: input.maxCreditsPerPerson,
    lateDeadlineSeconds: input.lateDeadlineSeconds ?? defaults.lateDeadlineSeconds,
    freshness: input.freshness ?? defaults.freshness,
    priority: 'nightly',
    // A run that waited would keep the next nights from beginning, and those take the rest.
    onBudget: input.onBudget ?? 'finish',
    onUnknown: input.onUnknown,
    pilot: null,
    minMatchRate: input.minMatchRate,
    maxCostPerEmail: null,
  };
}

/** The command looked at its own settings; those of the worker are what counts, and may be others. */
function noBudget(schedule: string): Problem {
  return new Problem('credits.no-ceiling', 'nothing limits what this schedule may spend', {
    where: `schedule ${schedule}`,
    next: 'give it --max-credits, set MAX_CREDITS_PER_RUN, _DAY or _MONTH for the worker, or say --no-budget',
  });
}
