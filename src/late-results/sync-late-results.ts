import type { LateResultsStatus } from '../contract/late-results-status.ts';
import { freeSlots, webhookResultScope } from '../ledger/rate-windows.ts';
import { drainInbox } from './drain-inbox.ts';
import { settleExpired } from './last-bodies.ts';
import { belongsTo, markExpiredUnknown, takeDuePolls } from './late-polls.ts';
import type { LateScope } from './late-scope.ts';
import { makePolls, type LateDependencies } from './make-polls.ts';
import { readLateResultsStatus } from './read-late-results-status.ts';

const pollsAtOnce = 20;
/** A worker of another service can make no poll of a run; a worker of the run's own service may start meanwhile. */
const otherServiceMilliseconds = 300_000;

/**
 * Syncs late results: applies the inbox, makes the polls that are due, and applies their bodies. Safe to repeat and to
 * run concurrently, because each effect is one transaction that takes effect once. When the window of polls is full,
 * the other polls stay due.
 *
 * @returns how many deliveries took effect
 */
export async function syncLateResults(
  dependencies: LateDependencies,
  scope: LateScope,
  signal: AbortSignal,
): Promise<number> {
  let applied = await drainInbox(dependencies.warehouse, scope, signal);
  for (;;) {
    const due = await takeDuePolls(dependencies.warehouse, dependencies.service, scope, pollsAtOnce);
    if (due.length === 0) break;
    const polled = await makePolls(dependencies, due, signal);
    signal.throwIfAborted();
    applied += polled.applied + (await drainInbox(dependencies.warehouse, scope, signal));
    if (!polled.next) return applied;
  }
  await settleExpired(dependencies.warehouse, scope);
  await markExpiredUnknown(dependencies.warehouse, scope);
  return applied;
}

/** Syncs one run, and reads the status of its late results afterwards. */
export async function syncRunResults(
  dependencies: LateDependencies,
  runId: string,
  signal: AbortSignal,
): Promise<LateResultsStatus> {
  const { warehouse, service, rateLimits } = dependencies;
  await syncLateResults(dependencies, { runId }, signal);
  if (!(await belongsTo(warehouse, runId, service)))
    return readLateResultsStatus(warehouse, runId, otherServiceMilliseconds);
  const { wait } = await freeSlots(warehouse.database, { service, scope: webhookResultScope }, rateLimits);
  return readLateResultsStatus(warehouse, runId, wait?.milliseconds ?? 0);
}
