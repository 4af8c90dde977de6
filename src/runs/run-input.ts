import type { RunInput } from '../contract/run-input.ts';
import { lateKindsOf } from '../domain/late-results/delivery-kinds.ts';
import { withoutPersonalData } from '../domain/text/without-personal-data.ts';
import type { RunRecord } from './runs.ts';

/** Concurrent batches per call that one worker keeps in flight: a second worker finds batches to take. */
const batchesPerCall = 3;

/** The input of a run's workflow. */
export function runInputOf(
  run: RunRecord,
  settings: {
    readonly searchable: boolean;
    readonly callConcurrency: number;
    readonly pollAfterSeconds: number;
    readonly checksService: boolean;
  },
): RunInput {
  return {
    runId: run.runId,
    file: shownName(run),
    maxCredits: run.options.maxCredits,
    batchConcurrency: batchesPerCall * settings.callConcurrency,
    priority: run.options.priority,
    searchable: settings.searchable,
    checksService: settings.checksService,
    ...(lateKindsOf(run.options).length > 0 && {
      lateResults: { pollAfterSeconds: settings.pollAfterSeconds },
    }),
  };
}

/** Temporal stores file names, and some files are named after people. */
export function shownName(run: Pick<RunRecord, 'fileName'>): string {
  return withoutPersonalData(run.fileName);
}
