import { createHash } from 'node:crypto';
import type { RefusedExport, RunInput, ScheduledRunInput, ScheduledRuns } from '../contract.ts';
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
import { runInputOf, shownName } from './run-input.ts';
import type { RunRecord } from './runs.ts';
import { discardUnstartedRuns } from './discard-unstarted-runs.ts';
import { withoutPersonalData } from '../telemetry/log.ts';

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
 * A file of `every-new` that cannot be read stands in nobody's way: it gets a run that its own workflow fails with
 * the reason, and is not tried again until it changes. Where this throws, the runs that it began are gone again: no
 * run is recorded without a workflow.
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
  const refused: RefusedExport[] = [];
  let left = 0;
  try {
    for (const found of await findExports(input.export, asOf, input.timezone, exportAccess)) {
      const isFull = begun.size === mostRuns;
      const run = await beginRunOf(dependencies, { found, options, asOf, onlyNew, isFull }, signal).catch(
        (error: unknown) => {
          // Of a single export the schedule itself says what is wrong.
          if (!onlyNew || !isOfExport(error)) throw error;
          refused.push({
            file: shownName({ fileName: addressName(found.address) }),
            reason: reasonOf(error),
          });
          return undefined;
        },
      );
      if (run === 'left') left += 1;
      else if (run) {
        const { searchable } = input;
        const settings = {
          approved: true,
          searchable,
          callConcurrency,
          pollAfterSeconds,
          checksService: true,
        };
        begun.set(run.runId, runInputOf(run, settings));
      }
    }
  } catch (error) {
    await discardUnstartedRuns(warehouse, { runIds: [...begun.keys()], asOf });
    throw error;
  }
  return { runs: [...begun.values()], refused, left };
}

interface ExportToBegin {
  readonly found: FoundExport;
  readonly options: RunOptions;
  readonly asOf: Date;
  readonly onlyNew: boolean;
  /** As many runs as one time may have are begun. */
  readonly isFull: boolean;
}

/** @returns undefined where the export was enriched before; `left` where it is for the next time */
async function beginRunOf(
  dependencies: ScheduleDependencies,
  { found, options, asOf, onlyNew, isFull }: ExportToBegin,
  signal: AbortSignal,
): Promise<RunRecord | 'left' | undefined> {
  const { warehouse, exportAccess } = dependencies;
  const { address } = found;
  const specOf = (fileSha256: string): RunSpec => ({
    filePath: addressText(address),
    fileName: addressName(address),
    fileSha256,
    options,
    expectedPlanHash: null,
    asOf,
  });
  const isKnown = async (sha256: string): Promise<boolean> =>
    onlyNew && (await wasRunBefore(warehouse, { fileSha256: sha256, options }));
  const known = onlyNew ? await knownContent(dependencies, found, signal) : undefined;
  if (known !== undefined && (await isKnown(known))) return undefined;
  // Fetching it only to see whether it is new would be for the next time as well.
  if (isFull && isElsewhere(address)) return 'left';
  const obtained = await obtainExport(address, exportAccess, signal).catch((error: unknown) => {
    const standIn = onlyNew ? unreadableContent(found, error) : undefined;
    if (standIn === undefined) throw error;
    return { sha256: standIn, path: undefined, etag: undefined };
  });
  const { path, sha256, etag } = obtained;
  if (etag !== undefined) await recordContent(warehouse, { address: addressText(address), etag, sha256 });
  if (await isKnown(sha256)) {
    if (path !== undefined && isElsewhere(address))
      await new StagingDirectory(exportAccess.stagingDirectory).remove(path);
    return undefined;
  }
  if (isFull) return 'left';
  const { run } = await findOrBeginRun(warehouse, specOf(sha256));
  // Where it is refused, the run's own workflow finds the same, and is the one that fails.
  if (path !== undefined && isElsewhere(address)) {
    const { kind } = await stageRun(dependencies, run.runId, { fetched: path, signal, onProgress: () => {} });
    if (kind === 'ingested') await forgetContent(dependencies, run.runId);
  }
  return run;
}

/** What is wrong with the file itself, and stays so until it changes. */
const faultsOfFile: readonly string[] = ['export.empty', 'export.missing', 'export.unreadable'];

/**
 * Stands for the content of a file that cannot be read: the same until the file changes, so that it is refused once.
 *
 * @returns undefined where another try may succeed, or the file has no version
 */
function unreadableContent({ address, etag, modified }: FoundExport, error: unknown): string | undefined {
  const version = etag ?? modified?.toString();
  if (!isOfExport(error) || version === undefined) return undefined;
  if (error.type !== 'export.empty' && (isElsewhere(address) || !faultsOfFile.includes(error.type)))
    return undefined;
  return createHash('sha256')
    .update(JSON.stringify([error.type, addressText(address), version]))
    .digest('hex');
}

function isOfExport(error: unknown): error is Problem {
  return error instanceof Problem && error.type.startsWith('export.');
}

function reasonOf({ message, where }: Problem): string {
  return withoutPersonalData(where === undefined ? message : `${message} (${where})`);
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
