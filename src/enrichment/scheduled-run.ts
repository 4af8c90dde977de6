import { basename } from 'node:path';
import type { RunInput, ScheduledRunInput, ScheduledRuns } from '../contract.ts';
import { Problem } from '../domain/problem.ts';
import { findExports } from '../exports/find-export.ts';
import { hashExport } from '../exports/hash-export.ts';
import type { Warehouse } from '../warehouse/database.ts';
import { findOrBeginRun, wasRunBefore, type RunOrder } from '../warehouse/runs.ts';
import type { RunOptions } from '../warehouse/tables.ts';
import { runInputOf } from './run-input.ts';

export interface ScheduleDependencies {
  readonly warehouse: Warehouse;
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
 * Finds what a schedule has to enrich at a time, and begins the runs: with the schedule's own budget, approved, behind ad
 * hoc runs and before backfills. Spends nothing. Given again it finds the same runs, as far as they are unfinished.
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
  const { warehouse, callConcurrency, pollAfterSeconds } = dependencies;
  const asOf = new Date(input.asOf);
  // Two files with the same content are one run.
  const begun = new Map<string, RunInput>();
  let left = 0;
  for (const filePath of await findExports(input.export, asOf, input.timezone)) {
    const { sha256 } = await hashExport(filePath, signal);
    const order: RunOrder = {
      filePath,
      fileName: basename(filePath),
      fileSha256: sha256,
      options,
      expectedPlanHash: null,
      asOf,
    };
    if (input.export.kind === 'every-new' && (await wasRunBefore(warehouse, order))) continue;
    if (begun.size === mostRuns) {
      left += 1;
      continue;
    }
    const { run } = await findOrBeginRun(warehouse, order);
    const { searchable } = input;
    const settings = { approved: true, searchable, callConcurrency, pollAfterSeconds, checksService: true };
    begun.set(run.runId, runInputOf(run, settings));
  }
  return { runs: [...begun.values()], left };
}

function optionsOf({ defaults }: ScheduleDependencies, input: ScheduledRunInput): RunOptions {
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
  };
}

/** The command looked at its own settings; those of the worker are what counts, and may be others. */
function noBudget(schedule: string): Problem {
  return new Problem('credits.no-ceiling', 'nothing limits what this schedule may spend', {
    where: `schedule ${schedule}`,
    next: 'give it --max-credits, set MAX_CREDITS_PER_RUN, _DAY or _MONTH for the worker, or say --no-budget',
  });
}
