import type { PauseReason } from '../../contract/pause-reasons.ts';
import type { RunRecord } from '../../runs/runs.ts';

/**
 * Why a batch pauses its run if the worker uses another service. Answers of one service do not count for another: a run
 * that continued there would make the next run pay for half of its people again.
 */
export function otherService({ runId, options }: RunRecord, service: string): PauseReason {
  return {
    type: 'service.other',
    reason: `this run belongs to the service ${options.service}, and this worker uses ${service}: nothing was sent`,
    next:
      `enrich cancel ${runId} ends the run; to continue it, set ENRICHMENT_BASE_URL to its service (unset: the ` +
      `sandbox) and restart workers that have another setting, such as enrich dev`,
  };
}

/**
 * Why a batch pauses its run if the service refuses all of its people, each in a call alone, or all calls of several
 * batches in a row. The options of a run cannot be changed, so a correction needs another run.
 */
export function everybodyRefused(reason: string): PauseReason {
  return {
    type: 'service.refuses-everybody',
    reason: `the service refuses every person of a batch, or all calls of several batches (${reason})`,
    next:
      'if the mapping or the options are wrong, cancel the run (enrich cancel) and run the file again with others; ' +
      'if the service was wrong, wait until it accepts people',
  };
}
