import { setTimeout as sleep } from 'node:timers/promises';
import type { BatchResult } from '../contract/activities.ts';
import type { PauseReason, StatusReason } from '../contract/pause-reasons.ts';
import { lateKindsOf } from '../domain/late-results/delivery-kinds.ts';
import { halve } from '../domain/runs/batching.ts';
import { drainInbox } from '../late-results/drain-deliveries.ts';
import { registerWaitingBatches, deregisterRun, deregisterWaitingBatch } from '../ledger/waiting-batches.ts';
import { readOpenPeople, refreshOpenPeople, type OpenPerson } from './open-people.ts';
import { rejectPerson } from './reject-person.ts';
import type { Wait } from '../ledger/rate-windows.ts';
import { reopenUnknown } from '../ledger/reopen-unknown-attempts.ts';
import { getRun, setRunStatus, type RunRecord } from '../runs/runs.ts';
import { restartMatchRate, watchMatchRate } from '../runs/quality-gate/watch-match-rate.ts';
import {
  attemptCall,
  type AttemptDependencies,
  type AttemptRequest,
  type AttemptResult,
} from './attempt-call.ts';
import type { OpenBatch } from './open-batches.ts';

/**
 * Calls for the people of one batch without an outcome until all have one, or until the batch must wait or stop. Safe
 * to run again after a crash: an admitted attempt that was not recorded becomes unknown and is not repeated.
 *
 * @param signal aborted when the activity is cancelled or the worker shuts down: no call begins afterwards
 */
export async function enrichBatch(
  dependencies: AttemptDependencies,
  { run, batch, isOurs, asked, people }: OpenBatch,
  signal: AbortSignal,
): Promise<BatchResult> {
  const { warehouse } = dependencies;
  const { runId } = run;
  const register = (milliseconds: number): Promise<void> =>
    registerWaitingBatches(warehouse.database, { runId, batches: [batch] }, milliseconds);
  let calls = 0;
  const stopped = (pauseReason: StatusReason): BatchResult => ({ kind: 'stopped', calls, pauseReason });
  /** Admission removes the registration of a batch that calls. */
  let isRegistered = true;
  // Checked here too, because the queue hands batches back before admission while a window is full.
  if (run.status !== 'running') return stopped(await reasonOfStop(dependencies, runId));
  if (!isOurs)
    return stopped(await pause(dependencies, runId, otherService(run, dependencies.limits.service)));
  const groups: OpenPerson[][] = [people];
  let taken = false;
  /** People whose own request was refused. They are rejected once the service accepts another person of the batch. */
  const rejected: { rowNumber: number; reason: string }[] = [];
  const writeOff = async (): Promise<void> => {
    for (const person of rejected.splice(0)) {
      await rejectPerson(warehouse, { runId, ...person, asked: run.options });
    }
  };
  const patience = dependencies.patienceMilliseconds;
  let waitsSince = performance.now();
  let readAt = performance.now();
  /** While the batch waits for its turn, another call can answer its people. */
  const stillOpen = async (group: OpenPerson[]): Promise<OpenPerson[]> => {
    if (performance.now() - readAt < staleMilliseconds) return group;
    const open = new Set(
      numbersOf(await refreshOpenPeople(warehouse.database, { runId, batches: [batch] }, asked)),
    );
    readAt = performance.now();
    return group.filter(({ rowNumber }) => open.has(rowNumber));
  };
  for (let waiting = groups.shift(); waiting; waiting = groups.shift()) {
    if (waiting.length === 0) continue;
    let group = waiting;
    const turn = await dependencies.queue.run(
      run.options.priority,
      async () => {
        group = await stillOpen(group);
        if (group.length === 0) return undefined;
        return callAndPause(dependencies, { run, batch, people: group }, signal);
      },
      signal,
    );
    if (turn.kind === 'wait') {
      await register(turn.milliseconds);
      return { ...turn, calls };
    }
    if (!turn.result) continue;
    const { result, paused } = turn.result;
    if ('called' in result) {
      calls += 1;
      isRegistered = false;
    }
    if (result.kind !== 'wait') waitsSince = performance.now();
    switch (result.kind) {
      case 'recorded':
        taken = true;
        await writeOff();
        if (paused) return stopped(paused);
        groups.unshift(group.slice(result.people));
        break;
      case 'unknown': {
        const again =
          run.options.onUnknown === 'retry' ? await reopenUnknown(warehouse, runId, numbersOf(group)) : [];
        if (paused) return stopped(paused);
        groups.unshift(
          group.slice(0, result.people).filter((person) => again.includes(person.rowNumber)),
          group.slice(result.people),
        );
        break;
      }
      case 'again':
        groups.unshift(group);
        break;
      case 'refused': {
        // One person can make the service refuse all ten (422). Halving costs calls and no credits.
        const sent = group.slice(0, result.people);
        const rest = group.slice(result.people);
        if (sent.length > 1) {
          groups.unshift(...halve(sent), rest);
          break;
        }
        rejected.push({ rowNumber: sent[0]!.rowNumber, reason: result.reason });
        if (!taken && rejected.length === people.length && rejected.length >= fewestForSystematicRefusal) {
          return stopped(await pause(dependencies, runId, everybodyRefused(result.reason)));
        }
        if (taken) await writeOff();
        groups.unshift(rest);
        break;
      }
      case 'taken': {
        const open = await readOpenPeople(warehouse.database, runId, batch);
        const left = group.filter(({ rowNumber }) => open.some((person) => person.rowNumber === rowNumber));
        // An operator skipped the page, or an abandoned call brought the outcome.
        if (left.length < group.length) {
          groups.unshift(left);
          break;
        }
        // The other call ends within its timeout; then this batch tries again.
        return {
          kind: 'wait',
          milliseconds: dependencies.callTimeoutSeconds * 1_000,
          reason: 'an abandoned worker may still be calling for people of this batch',
          calls,
        };
      }
      case 'wait': {
        const milliseconds = waitOfWorkflow(result, performance.now() - waitsSince, patience);
        if (milliseconds !== undefined) {
          await register(milliseconds);
          return { kind: 'wait', milliseconds, reason: result.reason, calls };
        }
        // Outside the queue, so that batches of higher priority can use the queue in the meantime.
        await sleep(Math.min(result.milliseconds, patience), undefined, { signal });
        groups.unshift(group);
        break;
      }
      case 'over_budget':
        // All batches of the run: until it has credits again, and opens its page again, none of them needs a slot.
        await deregisterRun(warehouse.database, runId);
        return { kind: 'over_budget', budget: result.budget, calls };
      case 'stopped':
        return stopped(paused ?? result.pauseReason);
      case 'not_running':
        return stopped(await reasonOfStop(dependencies, runId));
    }
    if (groups.some((left) => left.length > 0)) {
      await register(0);
      isRegistered = true;
    }
  }
  if (isRegistered) await deregisterWaitingBatch(warehouse.database, runId, batch);
  await writeOff();
  return { kind: 'done', calls };
}

/** People who were read longer ago than this are read again before their call. */
const staleMilliseconds = 1_000;

/**
 * Higher-priority work can take any amount of time. A batch waits in the activity for six times its patience, so that
 * it continues at once after a short run. Then it tries every five minutes: trying whenever a slot could be free would
 * fill the history of its page within hours, at 150 events a try.
 */
const preemptedPatience = 6;
const preemptedMilliseconds = 5 * 60_000;

/**
 * @param waited milliseconds that the batch has waited in its activity
 * @returns the milliseconds that the batch waits by a timer of the workflow; undefined: it waits in its activity
 */
function waitOfWorkflow(
  { milliseconds, isPreempted }: Wait,
  waited: number,
  patience: number,
): number | undefined {
  if (!isPreempted) return waited + milliseconds <= patience ? undefined : milliseconds;
  return waited < preemptedPatience * patience ? undefined : Math.max(milliseconds, preemptedMilliseconds);
}

function numbersOf(people: readonly OpenPerson[]): number[] {
  return people.map((person) => person.rowNumber);
}

/**
 * If the service refuses every person of a batch of at least this size, the request is wrong and not the people.
 */
const fewestForSystematicRefusal = 3;

/**
 * Answers of one service do not count for another service. A run that continued at another service would make the next
 * run pay for half of its people again.
 */
function otherService({ runId, options }: RunRecord, service: string): PauseReason {
  return {
    type: 'service.other',
    reason: `this run belongs to the service ${options.service}, and this worker uses ${service}: nothing was sent`,
    next:
      `enrich cancel ${runId} ends the run; to continue it, set ENRICHMENT_BASE_URL to its service (unset: the ` +
      `sandbox) and restart workers that have another setting, such as enrich dev`,
  };
}

function everybodyRefused(reason: string): PauseReason {
  return {
    type: 'service.refuses-everybody',
    reason: `the service refuses every person of a batch (${reason})`,
    next: 'check the mapping and the options of the run against the service',
  };
}

/**
 * Makes one call, and pauses the run if the call gives a reason. Both belong to one turn of the queue: the next call
 * begins when the turn ends, and would otherwise be admitted before the pause is written.
 */
async function callAndPause(
  dependencies: AttemptDependencies,
  call: AttemptRequest,
  signal: AbortSignal,
): Promise<{ readonly result: AttemptResult; readonly paused: StatusReason | undefined }> {
  const { warehouse } = dependencies;
  const { runId, options } = call.run;
  const result = await attemptCall(dependencies, call, signal);
  let reason = 'pauseReason' in result ? result.pauseReason : undefined;
  if (result.kind === 'recorded') {
    reason ??= await watchMatchRate(warehouse, runId, options.minMatchRate);
  }
  const paused = reason && (await pause(dependencies, runId, reason));
  if (reason?.type === 'match-rate.below') await restartMatchRate(warehouse, runId);
  // A delivery can arrive before the answer, and is applied after it.
  if (result.kind === 'recorded' && lateKindsOf(options).length > 0)
    await drainInbox(warehouse, { attemptId: result.attemptId }, signal);
  return { result, paused };
}

/** Pauses the run. Admission reads its status, so no worker sends another call. */
async function pause(
  { warehouse, log }: AttemptDependencies,
  runId: string,
  pauseReason: PauseReason,
): Promise<StatusReason> {
  const paused = { ...pauseReason, next: `${pauseReason.next}; then: enrich resume ${runId}` };
  await setRunStatus(warehouse, runId, 'paused', paused);
  log.warn({ type: pauseReason.type }, 'a call paused its run');
  return paused;
}

async function reasonOfStop({ warehouse }: AttemptDependencies, runId: string): Promise<StatusReason> {
  const run = await getRun(warehouse, runId);
  return (
    run.pauseReason ?? {
      type: `run.${run.status}`,
      reason: `the run is ${run.status}`,
      next: `enrich resume ${runId}`,
    }
  );
}
