import { setTimeout as sleep } from 'node:timers/promises';
import { sql } from 'kysely';
import type { BatchResult, BatchesRequest, BatchesResult } from '../../contract/activities.ts';
import type { PauseReason, StatusReason } from '../../contract/pause-reasons.ts';
import {
  lateKindsOf,
  withoutFieldGroups,
  type AskedExtras,
} from '../../domain/late-results/delivery-kinds.ts';
import { longestWaitMilliseconds } from '../../domain/rates/rate-limit.ts';
import { halve } from '../../domain/runs/batching.ts';
import { drainInbox } from '../../late-results/sync-late-results.ts';
import { deregisterWaitingBatches, registerWaitingBatches, pauseCalls } from '../../ledger/admit.ts';
import {
  readOpenPeople,
  refreshOpenPeople,
  registerBatches,
  rowsOfBatches,
  type OpenPerson,
} from './open-people.ts';
import type { Wait } from '../../ledger/rate-windows.ts';
import { reopenUnknown } from '../../ledger/decide-attempt.ts';
import { getRun, type RunRecord } from '../../runs/runs.ts';
import { restartMatchRate, watchMatchRate } from '../../runs/quality-gates.ts';
import {
  attemptCall,
  untilDatabaseIsBack,
  type AttemptDependencies,
  type AttemptResult,
} from '../attempt-call.ts';

import type { Warehouse } from '../../db/database.ts';
import { recordRejected } from '../../people/lookup-history.ts';
import { digestAnswer, digestTogether } from '../../people/digest.ts';
import { markUnknown } from '../../ledger/close-attempt.ts';
import { askedBy } from '../../runs/pages.ts';

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
  /** False once admission has removed the registration of the batch. */
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
    return { kind: 'done' };
  }

  /** Puts groups in front of those that wait for a call. */
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
    if ('people' in result) this.#isRegistered = false;
    const pausedByRate = result.kind === 'recorded' ? await this.#digest(result.attemptId) : undefined;
    if (result.kind !== 'wait') this.#waitsSince = performance.now();
    const ended = await this.#continue(group, result);
    if (paused ?? pausedByRate) return this.#stop(paused ?? pausedByRate);
    if (!ended && this.#groups.length > 0) await this.#register(0);
    return ended;
  }

  /** Another call can answer these people while the batch waits for its turn. */
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
    const { run, batch } = this.#open;
    const result = await attemptCall(this.#dependencies, { run, batch, people }, this.#signal);
    const ofCall = 'pauseReason' in result ? result.pauseReason : undefined;
    return { result, paused: ofCall && (await this.#pause(ofCall)) };
  }

  /**
   * Digests the answer outside of the queue, so that other calls can begin.
   *
   * @returns why the match rate pauses the run
   */
  async #digest(attemptId: string): Promise<StatusReason | undefined> {
    const { warehouse } = this.#dependencies;
    const { runId, options } = this.#open.run;
    await untilDatabaseIsBack(() => digestAnswer(warehouse, attemptId));
    // A delivery can arrive before the answer, and is applied after it.
    if (lateKindsOf(options).length > 0) await drainInbox(warehouse, { attemptId }, this.#signal);
    const rate = await watchMatchRate(warehouse, runId, options.minMatchRate);
    if (!rate) return undefined;
    await restartMatchRate(warehouse, runId);
    return this.#pause(rate);
  }

  /** @returns how the batch ends; undefined: it continues */
  async #continue(group: Group, result: AttemptResult): Promise<BatchResult | undefined> {
    const { warehouse, callTimeoutSeconds, patienceMilliseconds: patience } = this.#dependencies;
    const { run, batch } = this.#open;
    switch (result.kind) {
      case 'recorded':
        this.#isAccepted = true;
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
        // The operator skipped the page, or an abandoned call was answered.
        this.#callNext(left);
        return undefined;
      }
      case 'wait': {
        // A workflow timer frees the activity for other batches.
        if (performance.now() - this.#waitsSince + result.milliseconds > patience) return this.#wait(result);
        // Outside the queue, so that batches of higher priority can use the queue in the meantime.
        await sleep(Math.min(result.milliseconds, patience), undefined, { signal: this.#signal });
        this.#callNext(group);
        return undefined;
      }
      case 'over_budget':
        // All batches of the run: until it has credits again, and opens its page again, none of them needs a slot.
        await deregisterWaitingBatches(warehouse.database, run.runId);
        return { kind: 'over_budget', budget: result.budget };
      case 'stopped':
        return this.#stop(result.pauseReason);
      case 'not_running':
        return this.#stop();
    }
  }

  /** One person can make the service refuse all ten (422). Splitting the call costs calls, but no credits. */
  async #divide(sent: Group, rest: Group, reason: string): Promise<BatchResult | undefined> {
    if (sent.length === 1) this.#refused.push({ rowNumber: sent[0]!.rowNumber, reason });
    const refused = this.#refused.length;
    const isWholeBatch = refused === this.#open.people.length && refused >= fewestForSystematicRefusal;
    const { streaks } = this.#dependencies;
    const { runId } = this.#open.run;
    if (!this.#isAccepted && (streaks.tooLong(runId, 'refused') || isWholeBatch)) {
      streaks.end(runId);
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
    return { kind: 'wait', milliseconds, reason };
  }

  /** @returns why the run is paused, or the earlier reason if it was paused before */
  async #pause(pauseReason: PauseReason): Promise<StatusReason> {
    const { warehouse, log } = this.#dependencies;
    const { runId } = this.#open.run;
    const paused = { ...pauseReason, next: `${pauseReason.next}; then: enrich resume ${runId}` };
    if (await pauseCalls(warehouse.database, runId, paused)) {
      log.warn({ type: pauseReason.type }, 'a call paused its run');
      return paused;
    }
    const { status, pauseReason: first } = await getRun(warehouse, runId);
    if (status !== 'paused' || !first || first.type === paused.type) return paused;
    return { ...first, reason: `${first.reason}; ${paused.reason}` };
  }

  /** @param pauseReason undefined: the run was paused or ended elsewhere */
  async #stop(pauseReason?: StatusReason): Promise<BatchResult> {
    const { runId } = this.#open.run;
    if (pauseReason) return { kind: 'stopped', pauseReason };
    const { status, pauseReason: ofRun } = await getRun(this.#dependencies.warehouse, runId);
    const ofStatus = {
      type: `run.${status}`,
      reason: `the run is ${status}`,
      next: `enrich resume ${runId}`,
    };
    return { kind: 'stopped', pauseReason: ofRun ?? ofStatus };
  }
}

/** If the service refuses all people of a batch of this size, the request is wrong, not the people. */
const fewestForSystematicRefusal = 3;

/** People who were read longer ago are read again before their call. */
const staleMilliseconds = 1_000;

function numbersOf(people: Group): number[] {
  return people.map((person) => person.rowNumber);
}

function among(people: Group, rowNumbers: readonly number[]): Group {
  return people.filter(({ rowNumber }) => rowNumbers.includes(rowNumber));
}

/**
 * Reason for the pause if the worker uses another service. A run must not continue there: its earlier answers would not
 * count, and the next run would pay again for many of its people.
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

/**
 * Reason for the pause if the service refuses every person of a batch alone, or many calls in a row. The options of a
 * run cannot change, so the operator must begin another run.
 */
function everybodyRefused(reason: string): PauseReason {
  return {
    type: 'service.refuses-everybody',
    reason: `the service refuses every person of a batch, or all calls of several batches (${reason})`,
    next:
      'if the mapping or the options are wrong, cancel the run (enrich cancel) and run the file again with others; ' +
      'if the service was wrong, wait until it accepts people',
  };
}

/** Records that the service refuses a person: a call with this person alone was answered by 422 and costs nothing. */
export async function rejectPerson(
  { database }: Warehouse,
  rejected: {
    readonly runId: string;
    readonly rowNumber: number;
    readonly reason: string;
    readonly asked: AskedExtras & { readonly service: string };
  },
): Promise<void> {
  const { runId, rowNumber, reason, asked } = rejected;
  await database.transaction().execute(async (transaction) => {
    await transaction
      .updateTable('run_rows')
      .set({ outcome: 'rejected', reason })
      .where('run_id', '=', runId)
      .where('row_number', '=', rowNumber)
      .where('outcome', 'is', null)
      .execute();
    await transaction
      .deleteFrom('claims')
      .where('run_id', '=', runId)
      .where('row_number', '=', rowNumber)
      .execute();
    await recordRejected(transaction, runId, rowNumber, asked);
  });
}

/** A batch that an activity begins with, or continues with. */
type OpenBatch = Awaited<ReturnType<typeof openBatches>>[number];

/**
 * Reads the open people of batches together and closes what an earlier execution left. Attempts without an end may have
 * been sent, so they become unknown, and their people are not sent again. These attempts keep their slots until their
 * deadlines, because a worker that only lost Temporal may still be sending them.
 *
 * @param batches numbers from 1 within the run
 * @returns the batches in the same order
 */
export async function openBatches(
  dependencies: AttemptDependencies,
  runId: string,
  batches: readonly number[],
) {
  const { warehouse, log } = dependencies;
  const { database } = warehouse;
  const { service } = dependencies.limits;
  const run = await getRun(warehouse, runId);
  const isOurs = run.options.service === service;
  // Registered first, so that calls of lower priority leave a slot free during the following steps.
  const { leftAttempts, leftAnswers, hasSuppressions } = await registerBatches(database, { runId, batches });
  // A killed worker may have left stored answers without their digest, which gives the outcomes.
  if (leftAnswers) await digestTogether(warehouse);
  for (const attemptId of leftAttempts) {
    await markUnknown(warehouse, attemptId, 'the worker that made this call did not record its end');
    log.warn({ attemptId }, 'an earlier execution left a call without an end: the attempt is unknown');
  }
  await reopenUnknown(warehouse, run, rowsOfBatches({ runId, batches }));
  const asked = askedBy(run.options);
  const open = await refreshOpenPeople(database, { runId, batches }, asked, hasSuppressions);
  return batches.map((batch) => {
    const people = open.filter((person) => person.batch === batch);
    const options = withoutFieldGroups(run.options, people[0]?.leftOut ?? []);
    return {
      /** Its options leave out what this batch does not need, such as fresh phones: plans group people by them. */
      run: { ...run, options },
      /** From 1 within the run. */
      batch,
      isOurs,
      asked,
      people,
    };
  });
}

/**
 * Enriches several batches in one activity, at the same time: an activity of its own for each call cost half as much
 * processor time as recording the answer. The batches are opened together. The call queue orders and limits their
 * calls.
 *
 * @param options.onDone is told how many batches are done
 * @throws what a batch throws, after the other batches have ended
 */
export async function enrichBatches(
  dependencies: AttemptDependencies,
  { runId, page, batches }: BatchesRequest,
  { signal, onDone }: { readonly signal: AbortSignal; readonly onDone: (batches: number) => void },
): Promise<BatchesResult> {
  let done = 0;
  const opened = await openBatches(dependencies, runId, batches);
  const ended = await Promise.allSettled(
    opened.map(async (open) => {
      const { batch } = open;
      const result = await enrichBatch(
        { ...dependencies, log: dependencies.log.child({ runId, page, batch }) },
        open,
        // A signal for each batch: Node warns of more than ten listeners of one signal.
        AbortSignal.any([signal]),
      );
      if (result.kind === 'done') onDone((done += 1));
      return { batch, result };
    }),
  );
  const failure = ended.find((each) => each.status === 'rejected');
  if (failure) throw failure.reason;
  return resultOf(ended.flatMap((each) => (each.status === 'fulfilled' ? [each.value] : [])));
}

/** Kinds of results, weakest first. The strongest of all batches decides about the page; of waits, the shortest. */
const kinds = ['done', 'wait', 'over_budget', 'stopped'] as const;

export function resultOf(
  results: readonly { readonly batch: number; readonly result: BatchResult }[],
): BatchesResult {
  const strongest = results
    .map(({ result }) => result)
    .reduce((one, other) => {
      if (one.kind === 'wait' && other.kind === 'wait')
        return other.milliseconds < one.milliseconds ? other : one;
      return kinds.indexOf(other.kind) > kinds.indexOf(one.kind) ? other : one;
    });
  return {
    ...strongest,
    left: results.flatMap(({ batch, result }) => (result.kind === 'done' ? [] : [batch])),
  };
}
