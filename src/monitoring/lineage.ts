import type { RunFacts } from '../contract/run-facts.ts';
import type { Warehouse } from '../db/database.ts';
import { getRun } from '../runs/runs.ts';
import type { Logger } from '../telemetry/log.ts';
import { postJson } from './notification-channels.ts';
import { lineageEvent, type LineageSource, type LineageType } from './lineage-event.ts';

/**
 * Sends the transitions of runs to a lineage receiver. Events can be lost: runs do not wait for the receiver, and a
 * failing receiver fails no run.
 */
export interface Lineage {
  started(runId: string): void;
  /** A run has ended: finished, cancelled or failed. */
  ended(facts: RunFacts): void;
  /** Waits a moment for events that are being sent. */
  close(): Promise<void>;
}

const closingMilliseconds = 2_000;
/** Maximum number of events that wait; more events are dropped, because the receiver is unreachable. */
const mostWaiting = 100;

const typeOf: Readonly<Record<string, LineageType>> = {
  finished: 'COMPLETE',
  cancelled: 'ABORT',
  failed: 'FAIL',
};

/**
 * Sends events in their order in the background.
 *
 * @param receiver.url address of the receiver, to which `/api/v1/lineage` is added
 */
export function startLineage(
  warehouse: Warehouse,
  receiver: { readonly url: string; readonly apiKey: string | undefined },
  source: LineageSource,
  log: Logger,
): Lineage {
  const stopped = new AbortController();
  const address = `${receiver.url.replace(/\/$/, '')}/api/v1/lineage`;
  const headers = receiver.apiKey === undefined ? {} : { authorization: `Bearer ${receiver.apiKey}` };
  let waiting = 0;
  let sending: Promise<void> = Promise.resolve();
  const deliver = async (runId: string, type: LineageType, at: Date, enriched?: number): Promise<void> => {
    const run = await getRun(warehouse, runId);
    // A run whose export was refused has not started: receivers expect that each run does.
    const types = type === 'FAIL' && run.ingestedAt === null ? (['START', type] as const) : [type];
    for (const each of types) {
      const body = JSON.stringify(lineageEvent(source, each, run, { at, enriched }));
      await postJson(address, body, headers, stopped.signal);
    }
  };
  const send = (runId: string, type: LineageType, enriched?: number): void => {
    if (waiting >= mostWaiting) return;
    waiting += 1;
    const at = new Date();
    sending = sending
      .then(() => deliver(runId, type, at, enriched))
      .catch((error: unknown) =>
        log.warn({ runId, event: type, err: error }, 'a lineage event was not delivered'),
      )
      .finally(() => (waiting -= 1));
  };
  return {
    started: (runId) => send(runId, 'START'),
    ended: ({ run_id: runId, status, outcomes }) => {
      const type = typeOf[status];
      if (type !== undefined) send(runId, type, outcomes['enriched'] ?? 0);
    },
    close: async () => {
      const timer = setTimeout(() => stopped.abort(), closingMilliseconds);
      await sending;
      clearTimeout(timer);
    },
  };
}
