import { setTimeout as sleep } from 'node:timers/promises';
import { sql } from 'kysely';
import type { BatchResult, BatchesRequest, BatchesResult } from '../../contract/activities.ts';
import type { PauseReason, StatusReason } from '../../contract/pause-reasons.ts';
import {
  lateKindsRequestedBy,
  withoutFieldGroups,
  type RequestedExtras,
} from '../../domain/late-results/delivery-kinds.ts';
import { maxWaitMilliseconds } from '../../domain/rates/rate-limit.ts';
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
import type { SlotWait } from '../../ledger/rate-windows.ts';
import { reopenUnknownRows } from '../../ledger/decide-attempt.ts';
import { getRun, type RunRecord } from '../../runs/runs.ts';
import { restartMatchRate, checkMatchRate } from '../../runs/quality-gates.ts';
import {
  attemptCall,
  untilDatabaseIsBack,
  type AttemptDependencies,
  type AttemptResult,
} from '../attempt-call.ts';

import type { Warehouse } from '../../db/database.ts';
import { recordRejectedLookup } from '../../people/lookup-history.ts';
import { digestAnswer, digestTogether } from '../../people/digest.ts';
import { markAttemptUnknown } from '../../ledger/close-attempt.ts';
import { lookupRequestOf } from '../../runs/pages.ts';

/**
 * Makes calls for the people of one batch until all have an outcome, or until the batch must wait or stop. Safe to run
 * again after a crash: an attempt that was admitted but not recorded becomes unknown and is not repeated.
 *
 * @param signal aborted when the activity is cancelled or the worker shuts down; no call begins afterwards
 */
export async function enrichBatch(
  dependencies: AttemptDependencies,
  open: OpenBatch,
  signal: AbortSignal,
): Promise<BatchResult> {
  return new BatchInProgress(dependencies, open, signal).run();
}

type Group = readonly OpenPerson[];

/** State of one batch: groups that wait for a call, refused people, and if others keep a slot free for it. */
class BatchInProgress {
  readonly #dependencies: AttemptDependencies;
  readonly #open: OpenBatch;
  readonly #signal: AbortSignal;
  /** Groups of people in the order in which calls are made for them, one call per group. No group is empty. */
  readonly #groups: Group[] = [];
  /**
   * People that the service refused in a call of their own. They get the outcome `rejected` when the service accepts
   * another person of the batch.
   */
  readonly #refused: { readonly rowNumber: number; readonly reason: string }[] = [];
  #isAccepted = false;
  /** False after an admission has removed the batch's registration as waiting. */
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
    // While a rate window is full, the queue returns batches before admission checks the run's status, so the status is
    // checked before the queue too.
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

  /** Puts groups in front of those that already wait for a call. */
  #callNext(...groups: readonly Group[]): void {
    this.#groups.unshift(...groups.filter((group) => group.length > 0));
  }

  /**
   * Waits for the turn of a group in the queue and makes the call.
   *
   * @returns the end of the batch; undefined: the batch continues
   */
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
    const pausedByRate =
      result.kind === 'recorded' ? await this.#digestAndCheckRate(result.attemptId) : undefined;
    if (result.kind !== 'wait') this.#waitsSince = performance.now();
    const ended = await this.#continue(group, result);
    if (paused ?? pausedByRate) return this.#stop(paused ?? pausedByRate);
    if (!ended && this.#groups.length > 0) await this.#register(0);
    return ended;
  }

  /**
   * Returns the people of a group who still need a call. While the batch waited, another call may have answered for
   * some.
   */
  async #stillOpen(group: Group): Promise<Group> {
    if (performance.now() - this.#readAt < staleMilliseconds) return group;
    const { run, batch, asked } = this.#open;
    const { database } = this.#dependencies.warehouse;
    const open = await refreshOpenPeople(database, { runId: run.runId, batches: [batch] }, asked);
    this.#readAt = performance.now();
    return among(group, numbersOf(open));
  }

  /**
   * Makes one call, and pauses the run if the call gives a reason. Both happen in one turn of the queue, because the
   * next call would otherwise be admitted before the pause is stored.
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
   * Digests the answer, and pauses the run if its match rate is too low. This happens after the batch's turn in the
   * call queue, so that other calls can begin.
   *
   * @returns why a low match rate pauses the run; undefined: the run continues
   */
  async #digestAndCheckRate(attemptId: string): Promise<StatusReason | undefined> {
    const { warehouse } = this.#dependencies;
    const { runId, options } = this.#open.run;
    await untilDatabaseIsBack(() => digestAnswer(warehouse, attemptId));
    // A delivery can arrive before the answer of its call. It is applied once the answer is digested.
    if (lateKindsRequestedBy(options).length > 0) await drainInbox(warehouse, { attemptId }, this.#signal);
    const rate = await checkMatchRate(warehouse, runId, options.minMatchRate);
    if (!rate) return undefined;
    await restartMatchRate(warehouse, runId);
    return this.#pause(rate);
  }

  /** Continues the batch after a call. @returns the end of the batch; undefined: the batch continues */
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
        const again = await reopenUnknownRows(warehouse, run, sql`select unnest(${numbersOf(group)}::int[])`);
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
        // The other worker's call ends within its timeout. This batch tries again afterwards.
        if (left.length === group.length)
          return this.#wait({
            milliseconds: callTimeoutSeconds * 1_000,
            reason: 'an abandoned worker may still be calling for people of this batch',
          });
        // Some people of the group got an outcome in the meantime: the operator skipped the page, or another call was
        // answered.
        this.#callNext(left);
        return undefined;
      }
      case 'wait': {
        // For a long wait, the workflow sets a timer, which frees the activity for other batches.
        if (performance.now() - this.#waitsSince + result.milliseconds > patience) return this.#wait(result);
        // A short wait happens outside the queue, so that batches of higher priority can use the queue in the meantime.
        await sleep(Math.min(result.milliseconds, patience), undefined, { signal: this.#signal });
        this.#callNext(group);
        return undefined;
      }
      case 'over_budget':
        // A run without credits needs no slots for any of its batches until the operator raises the budget and the run
        // opens the page again.
        await deregisterWaitingBatches(warehouse.database, run.runId);
        return { kind: 'over_budget', budget: result.budget };
      case 'stopped':
        return this.#stop(result.pauseReason);
      case 'not_running':
        return this.#stop();
    }
  }

  /**
   * Splits a refused call (422), because one person can make the service refuse all ten. Further calls cost no credits.
   */
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
    // These people queue behind the other half: if the service accepts that half, the refusal concerns single people.
    if (sent.length > 1) this.#groups.push(...halve(sent));
    return undefined;
  }

  /** Stores the outcome `rejected` for the refused people. */
  async #rejectRefused(): Promise<void> {
    const { runId, options } = this.#open.run;
    for (const person of this.#refused.splice(0))
      await rejectPerson(this.#dependencies.warehouse, { runId, ...person, asked: options });
  }

  /** Registers the batch as waiting, so that calls of lower priority leave a slot free for it. */
  async #register(milliseconds: number): Promise<void> {
    const { run, batch } = this.#open;
    const { database } = this.#dependencies.warehouse;
    await registerWaitingBatches(database, { runId: run.runId, batches: [batch] }, milliseconds);
    this.#isRegistered = true;
  }

  /** Ends the activity; the workflow runs the batch again after the time. */
  async #wait({ milliseconds: asked, reason }: SlotWait): Promise<BatchResult> {
    const milliseconds = Math.min(asked, maxWaitMilliseconds);
    await this.#register(milliseconds);
    return { kind: 'wait', milliseconds, reason };
  }

  /** Pauses the run. @returns why the run is paused, or the earlier reason if the run was paused before */
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

  /**
   * Ends the batch because the run is paused or has ended.
   *
   * @param pauseReason undefined: another worker or the operator paused or ended the run
   */
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

/** If the service refuses all people of a batch of this size or larger, the request is wrong, not the people. */
const fewestForSystematicRefusal = 3;

/** People who were read longer ago than this are read again before their call. */
const staleMilliseconds = 1_000;

function numbersOf(people: Group): number[] {
  return people.map((person) => person.rowNumber);
}

/** The people with one of these row numbers, in their order. */
function among(people: Group, rowNumbers: readonly number[]): Group {
  return people.filter(({ rowNumber }) => rowNumbers.includes(rowNumber));
}

/**
 * Reason for a pause if the worker uses another service than the run. A run must not switch services: its earlier
 * answers would not count, and the next run would pay again for many people.
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
 * Reason for a pause if the service refuses every person of a batch, or many calls in a row. The options of a run
 * cannot change, so the operator must start another run.
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

/** Records that the service refuses a person. A call with this person alone was answered with 422 and costs nothing. */
export async function rejectPerson(
  { database }: Warehouse,
  rejected: {
    readonly runId: string;
    readonly rowNumber: number;
    readonly reason: string;
    readonly asked: RequestedExtras & { readonly service: string };
  },
): Promise<void> {
  const { runId, rowNumber, reason, asked } = rejected;
  await database.transaction().execute(async (transaction) => {
    await sql`
      update run_rows set outcome = 'rejected', reason = ${reason}
      where run_id = ${runId} and row_number = ${rowNumber} and outcome is null
    `.execute(transaction);
    await sql`delete from claims where run_id = ${runId} and row_number = ${rowNumber}`.execute(transaction);
    await recordRejectedLookup(transaction, runId, rowNumber, asked);
  });
}

/** A batch with its run and its people without an outcome. */
type OpenBatch = Awaited<ReturnType<typeof openBatches>>[number];

/**
 * Reads the people of batches without an outcome, and closes what an earlier execution left. Attempts without an end
 * may have been sent: they become unknown, are not repeated, and keep their slots until their deadlines, because a
 * worker that lost Temporal may still send them.
 *
 * @param batches batch numbers, starting at 1 in each run
 * @returns the batches in the order of `batches`
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
  // Registration comes first, so that calls of lower priority leave a slot free during the following steps.
  const { leftAttempts, leftAnswers, hasSuppressions } = await registerBatches(database, { runId, batches });
  // A killed worker may have left stored answers without a digest. Only the digest gives rows their outcomes.
  if (leftAnswers) await digestTogether(warehouse);
  for (const attemptId of leftAttempts) {
    await markAttemptUnknown(warehouse, attemptId, 'the worker that made this call did not record its end');
    log.warn({ attemptId }, 'an earlier execution left a call without an end: the attempt is unknown');
  }
  await reopenUnknownRows(warehouse, run, rowsOfBatches({ runId, batches }));
  const asked = lookupRequestOf(run.options);
  const open = await refreshOpenPeople(database, { runId, batches }, asked, hasSuppressions);
  return batches.map((batch) => {
    const people = open.filter((person) => person.batch === batch);
    const options = withoutFieldGroups(run.options, people[0]?.leftOut ?? []);
    return {
      /**
       * Options of the run without what this batch does not need, such as phones that are still fresh. The plan puts
       * people with equal needs into one batch.
       */
      run: { ...run, options },
      /** Number of the batch, starting at 1 in each run. */
      batch,
      isOurs,
      asked,
      people,
    };
  });
}

/**
 * Enriches several batches at the same time in one activity, because one activity per call cost half as much processor
 * time as recording the answer. The call queue orders and limits the calls of all batches.
 *
 * @param options.onDone receives the number of finished batches
 * @throws the error of a batch, after the other batches have ended
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
        // Each batch has its own signal, because Node.js warns of more than ten listeners on one signal.
        AbortSignal.any([signal]),
      );
      if (result.kind === 'done') onDone((done += 1));
      return { batch, result };
    }),
  );
  const failure = ended.find((each) => each.status === 'rejected');
  if (failure) throw failure.reason;
  return combineBatchResults(ended.flatMap((each) => (each.status === 'fulfilled' ? [each.value] : [])));
}

/**
 * Kinds of batch results, the weakest first. The strongest result of all batches decides what happens to the page.
 * Among waits, the shortest counts.
 */
const kinds = ['done', 'wait', 'over_budget', 'stopped'] as const;

/** Combines the results of a page's batches. `left` has the batches that must run again. */
export function combineBatchResults(
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
