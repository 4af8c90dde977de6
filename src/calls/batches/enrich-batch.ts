import { setTimeout as sleep } from 'node:timers/promises';
import { sql } from 'kysely';
import type { BatchResult } from '../../contract/activities.ts';
import type { PauseReason, StatusReason } from '../../contract/pause-reasons.ts';
import { lateKindsOf } from '../../domain/late-results/delivery-kinds.ts';
import { longestWaitMilliseconds, waitOfWorkflow } from '../../domain/rates/workflow-wait.ts';
import { halve } from '../../domain/runs/batching.ts';
import { drainInbox } from '../../late-results/sync-late-results.ts';
import { deregisterWaitingBatches, registerWaitingBatches } from '../../ledger/waiting-batches.ts';
import { readOpenPeople, refreshOpenPeople, type OpenPerson } from './open-people.ts';
import { rejectPerson } from './reject-person.ts';
import { pauseCalls } from '../../ledger/pause-calls.ts';
import type { Wait } from '../../ledger/rate-windows.ts';
import { reopenUnknown } from '../../ledger/reopen-unknown-attempts.ts';
import { getRun } from '../../runs/runs.ts';
import { restartMatchRate, watchMatchRate } from '../../runs/quality-gate/watch-match-rate.ts';
import { attemptCall, type AttemptDependencies, type AttemptResult } from '../attempt-call.ts';
import { everybodyRefused, otherService } from './batch-pauses.ts';
import type { OpenBatch } from './open-batches.ts';

/**
 * Calls for the people of one batch without an outcome until all have one, or until the batch must wait or stop. Safe
 * to run again after a crash: an admitted attempt that was not recorded becomes unknown and is not repeated.
 *
 * @param signal aborted when the activity is cancelled or the worker shuts down: no call begins afterwards
 */
export async function enrichBatch(
  dependencies: AttemptDependencies,
  open: OpenBatch,
  signal: AbortSignal,
): Promise<BatchResult> {
  return new BatchInProgress(dependencies, open, signal).run();
}

type Group = readonly OpenPerson[];

class BatchInProgress {
  readonly #dependencies: AttemptDependencies;
  readonly #open: OpenBatch;
  readonly #signal: AbortSignal;
  /** People for whom one call asks, in the order of the calls. No group is empty. */
  readonly #groups: Group[] = [];
  /** People whose own request was refused. They are rejected once the service accepts another person of the batch. */
  readonly #refused: { readonly rowNumber: number; readonly reason: string }[] = [];
  #isAccepted = false;
  #refusedCalls = 0;
  #calls = 0;
  /** Admission removes the registration of a batch that calls. */
  #isRegistered = true;
  #waitsSince = performance.now();
  #readAt = performance.now();

  constructor(dependencies: AttemptDependencies, open: OpenBatch, signal: AbortSignal) {
    this.#dependencies = dependencies;
    this.#open = open;
    this.#signal = signal;
    this.#callNext(open.people);
  }

  async run(): Promise<BatchResult> {
    const { run, batch, isOurs } = this.#open;
    // Checked here too, because the queue hands batches back before admission while a window is full.
    if (run.status !== 'running') return this.#stop();
    if (!isOurs) return this.#stop(await this.#pause(otherService(run, this.#dependencies.limits.service)));
    for (let group = this.#groups.shift(); group; group = this.#groups.shift()) {
      const ended = await this.#takeTurn(group);
      if (ended) return ended;
    }
    const { database } = this.#dependencies.warehouse;
    if (this.#isRegistered)
      await deregisterWaitingBatches(database, run.runId, { first: batch, last: batch });
    await this.#rejectRefused();
    return { kind: 'done', calls: this.#calls };
  }

  /** Puts groups before those that wait for a call. */
  #callNext(...groups: readonly Group[]): void {
    this.#groups.unshift(...groups.filter((group) => group.length > 0));
  }

  /** Waits for the turn of a group and calls. @returns how the batch ends; undefined: it continues */
  async #takeTurn(waiting: Group): Promise<BatchResult | undefined> {
    const { queue } = this.#dependencies;
    const turn = await queue.run(
      this.#open.run.options.priority,
      async () => {
        const group = await this.#stillOpen(waiting);
        return group.length === 0 ? undefined : { group, ...(await this.#callAndPause(group)) };
      },
      this.#signal,
    );
    if (turn.kind === 'wait') return this.#wait(turn);
    if (!turn.result) return undefined;
    const { group, result, paused } = turn.result;
    if ('people' in result) {
      this.#calls += 1;
      this.#isRegistered = false;
    }
    if (result.kind !== 'wait') this.#waitsSince = performance.now();
    const ended = await this.#continue(group, result);
    if (paused) return this.#stop(paused);
    if (!ended && this.#groups.length > 0) await this.#register(0);
    return ended;
  }

  /** While the batch waits for its turn, another call can answer its people. */
  async #stillOpen(group: Group): Promise<Group> {
    if (performance.now() - this.#readAt < staleMilliseconds) return group;
    const { run, batch, asked } = this.#open;
    const { database } = this.#dependencies.warehouse;
    const open = await refreshOpenPeople(database, { runId: run.runId, batches: [batch] }, asked);
    this.#readAt = performance.now();
    return among(group, numbersOf(open));
  }

  /**
   * Makes one call, and pauses the run if the call gives a reason. Both belong to one turn of the queue: the next call
   * begins when the turn ends, and would otherwise be admitted before the pause is written.
   */
  async #callAndPause(
    people: Group,
  ): Promise<{ readonly result: AttemptResult; readonly paused: StatusReason | undefined }> {
    const { warehouse } = this.#dependencies;
    const { run, batch } = this.#open;
    const { runId, options } = run;
    const result = await attemptCall(this.#dependencies, { run, batch, people }, this.#signal);
    const isRecorded = result.kind === 'recorded';
    const ofCall = 'pauseReason' in result ? result.pauseReason : undefined;
    const rate =
      isRecorded && !ofCall ? await watchMatchRate(warehouse, runId, options.minMatchRate) : undefined;
    const pausedInCall = 'paused' in result ? result.paused : undefined;
    const paused = pausedInCall ?? (ofCall && (await this.#pause(ofCall)));
    const pausedByRate = rate && (await this.#pause(rate, () => restartMatchRate(warehouse, runId)));
    // A delivery can arrive before the answer, and is applied after it.
    if (isRecorded && lateKindsOf(options).length > 0)
      await drainInbox(warehouse, { attemptId: result.attemptId }, this.#signal);
    return { result, paused: paused ?? pausedByRate };
  }

  /** @returns how the batch ends; undefined: it continues */
  async #continue(group: Group, result: AttemptResult): Promise<BatchResult | undefined> {
    const { warehouse, callTimeoutSeconds, patienceMilliseconds: patience } = this.#dependencies;
    const { run, batch } = this.#open;
    switch (result.kind) {
      case 'recorded':
        this.#isAccepted = true;
        this.#dependencies.refusals.end(run.runId);
        await this.#rejectRefused();
        this.#callNext(group.slice(result.people));
        return undefined;
      case 'unknown': {
        const again = await reopenUnknown(warehouse, run, sql`select unnest(${numbersOf(group)}::int[])`);
        this.#callNext(among(group.slice(0, result.people), again), group.slice(result.people));
        return undefined;
      }
      case 'again':
        this.#callNext(group);
        return undefined;
      case 'refused':
        return this.#divide(group.slice(0, result.people), group.slice(result.people), result.reason);
      case 'taken': {
        const left = among(group, numbersOf(await readOpenPeople(warehouse.database, run.runId, batch)));
        // The other call ends within its timeout; then this batch tries again.
        if (left.length === group.length)
          return this.#wait({
            milliseconds: callTimeoutSeconds * 1_000,
            reason: 'an abandoned worker may still be calling for people of this batch',
          });
        // An operator skipped the page, or an abandoned call brought the outcome.
        this.#callNext(left);
        return undefined;
      }
      case 'wait': {
        const milliseconds = waitOfWorkflow(result, performance.now() - this.#waitsSince, patience);
        if (milliseconds !== undefined) return this.#wait({ milliseconds, reason: result.reason });
        // Outside the queue, so that batches of higher priority can use the queue in the meantime.
        await sleep(Math.min(result.milliseconds, patience), undefined, { signal: this.#signal });
        this.#callNext(group);
        return undefined;
      }
      case 'over_budget':
        // All batches of the run: until it has credits again, and opens its page again, none of them needs a slot.
        await deregisterWaitingBatches(warehouse.database, run.runId);
        return { kind: 'over_budget', budget: result.budget, calls: this.#calls };
      case 'stopped':
        return this.#stop(result.pauseReason);
      case 'not_running':
        return this.#stop();
    }
  }

  /** One person can make the service refuse all ten (422). Halving costs calls and no credits. */
  async #divide(sent: Group, rest: Group, reason: string): Promise<BatchResult | undefined> {
    if (sent.length === 1) this.#refused.push({ rowNumber: sent[0]!.rowNumber, reason });
    const refused = this.#refused.length;
    const isWholeBatch = refused === this.#open.people.length && refused >= fewestForSystematicRefusal;
    const { refusals } = this.#dependencies;
    const { runId } = this.#open.run;
    this.#refusedCalls += 1;
    if (!this.#isAccepted && (refusals.tooLong(runId, this.#refusedCalls) || isWholeBatch)) {
      refusals.end(runId);
      return this.#stop(await this.#pause(everybodyRefused(reason)));
    }
    if (this.#isAccepted) await this.#rejectRefused();
    this.#callNext(rest);
    // Behind the other half: if that half is accepted, the refusal is not systematic.
    if (sent.length > 1) this.#groups.push(...halve(sent));
    return undefined;
  }

  async #rejectRefused(): Promise<void> {
    const { runId, options } = this.#open.run;
    for (const person of this.#refused.splice(0))
      await rejectPerson(this.#dependencies.warehouse, { runId, ...person, asked: options });
  }

  async #register(milliseconds: number): Promise<void> {
    const { run, batch } = this.#open;
    const { database } = this.#dependencies.warehouse;
    await registerWaitingBatches(database, { runId: run.runId, batches: [batch] }, milliseconds);
    this.#isRegistered = true;
  }

  async #wait({ milliseconds: asked, reason }: Wait): Promise<BatchResult> {
    const milliseconds = Math.min(asked, longestWaitMilliseconds);
    await this.#register(milliseconds);
    return { kind: 'wait', milliseconds, reason, calls: this.#calls };
  }

  /**
   * @param ifNew what follows, unless the run is paused for another reason already
   * @returns why the run is paused, with the reason that came first: the service billed too much, for example
   */
  async #pause(pauseReason: PauseReason, ifNew?: () => Promise<void>): Promise<StatusReason> {
    const { warehouse, log } = this.#dependencies;
    const { runId } = this.#open.run;
    const paused = { ...pauseReason, next: `${pauseReason.next}; then: enrich resume ${runId}` };
    if (await pauseCalls(warehouse.database, runId, paused)) {
      log.warn({ type: pauseReason.type }, 'a call paused its run');
      await ifNew?.();
      return paused;
    }
    const { status, pauseReason: first } = await getRun(warehouse, runId);
    if (status !== 'paused' || !first || first.type === paused.type) return paused;
    return { ...first, reason: `${first.reason}; ${paused.reason}` };
  }

  /** @param pauseReason undefined: why the run is paused or has ended */
  async #stop(pauseReason?: StatusReason): Promise<BatchResult> {
    const { runId } = this.#open.run;
    if (pauseReason) return { kind: 'stopped', calls: this.#calls, pauseReason };
    const { status, pauseReason: ofRun } = await getRun(this.#dependencies.warehouse, runId);
    const ofStatus = {
      type: `run.${status}`,
      reason: `the run is ${status}`,
      next: `enrich resume ${runId}`,
    };
    return { kind: 'stopped', calls: this.#calls, pauseReason: ofRun ?? ofStatus };
  }
}

/**
 * If the service refuses every person of a batch of at least this size, the request is wrong and not the people.
 */
const fewestForSystematicRefusal = 3;

/** People who were read longer ago than this are read again before their call. */
const staleMilliseconds = 1_000;

function numbersOf(people: Group): number[] {
  return people.map((person) => person.rowNumber);
}

function among(people: Group, rowNumbers: readonly number[]): Group {
  return people.filter(({ rowNumber }) => rowNumbers.includes(rowNumber));
}
