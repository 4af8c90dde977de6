import type { Client } from '@temporalio/client';
import { differingSettings } from '../config/shared-settings.ts';
import type { Logger } from '../telemetry/log.ts';
import { readWorkerPoll } from './connection.ts';

/** Longer than the exchange of all workers by a new release, which may bring other settings. */
const checkEveryMilliseconds = 600_000;

/**
 * Warns in the log if live workers have other settings than this worker, once for each set of settings.
 *
 * @param marks of the settings of this worker
 * @returns stops the checks
 */
export function watchSettings(
  client: Client,
  options: {
    readonly marks: string;
    /** By the clock of a server, as for `readWorkerPoll`. */
    readonly readClock: () => Promise<Date>;
    readonly log: Logger;
    readonly everyMilliseconds?: number;
  },
): () => void {
  const { marks, readClock, log, everyMilliseconds = checkEveryMilliseconds } = options;
  let warnedOf = '';
  const check = async (): Promise<void> => {
    const { settings } = await readWorkerPoll(client, await readClock());
    const differing = differingSettings([marks, ...settings]);
    const found = differing.join(', ');
    if (differing.length > 0 && found !== warnedOf)
      log.warn({ settings: differing }, 'workers have different settings');
    warnedOf = found;
  };
  // Without an answer of a server, other lines of the log say so.
  const checks = setInterval(() => void check().catch(() => {}), everyMilliseconds);
  checks.unref();
  return () => clearInterval(checks);
}
