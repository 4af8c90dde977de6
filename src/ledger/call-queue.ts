import { AsyncResource } from 'node:async_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import Bottleneck from 'bottleneck';
import { taskPriorities, type RunPriority } from '../contract/temporal-names.ts';
import type { SlotWait } from './rate-windows.ts';

/** Tells the caller to wait this long, because another worker can take the job of a stopping worker by then. */
const workerStops: SlotWait = { milliseconds: 1_000, reason: 'its worker is stopping' };

/** Maximum refill. Without a rate limit the slots are infinite, but Bottleneck's reservoir must be finite. */
const largestRefill = 10_000;

export interface CallQueueOptions {
  /** Maximum number of calls of this process in flight. */
  readonly concurrency: number;
  /** Reads the free slots from the database, which all processes share. */
  readonly freeSlots: () => Promise<{ slots: number; wait: SlotWait | undefined }>;
  /** Maximum wait in the queue. A call that must wait longer is returned to the caller. */
  readonly patienceMilliseconds: number;
}

type Queued<Result> =
  | { readonly kind: 'ran'; readonly result: Result }
  | ({ readonly kind: 'wait' } & SlotWait);

/**
 * Orders the calls of this process: limits the calls in flight, starts high priorities first, and starts no more calls
 * than the rate windows have slots. The reservoir is a copy of the free slots; the database admits each call.
 */
export class CallQueue {
  readonly #limiter: Bottleneck;
  readonly #options: CallQueueOptions;
  /** One function per waiting job. It returns the job to its caller. */
  readonly #abandon = new Set<(wait: SlotWait) => void>();
  #refilling = false;
  /** True if the reservoir may be empty, so that another fill must follow. */
  #dry = false;
  /** True once the worker is stopping. */
  #handsBack = false;
  #closed = false;

  constructor(options: CallQueueOptions) {
    this.#options = options;
    this.#limiter = new Bottleneck({ maxConcurrent: options.concurrency, reservoir: 0 });
    startAtOnce(this.#limiter);
    this.#limiter.on('depleted', () => this.#refill());
  }

  /**
   * Runs a job when its turn comes. The result for a job that has not begun is how long the caller must wait.
   *
   * @param signal ends the wait for the turn; a job that has begun is not interrupted
   * @throws the error of the job, or the reason of the signal
   */
  async run<Result>(
    priority: RunPriority,
    job: () => Promise<Result>,
    signal: AbortSignal,
  ): Promise<Queued<Result>> {
    signal.throwIfAborted();
    if (this.#handsBack) return { kind: 'wait', ...workerStops };
    // Bottleneck starts a job when another job ends. Without this binding, the new job would appear in the trace of the
    // other.
    const bound = AsyncResource.bind(job);
    let begun = false;
    let given = false;
    let stopWaiting = (): void => {};
    const handedBack = new Promise<Queued<Result>>((resolve, reject) => {
      const abandon = (wait: SlotWait): void => {
        if (begun) return;
        given = true;
        resolve({ kind: 'wait', ...wait });
      };
      const abort = (): void => {
        if (begun) return;
        given = true;
        reject(signal.reason as Error);
      };
      this.#abandon.add(abandon);
      signal.addEventListener('abort', abort, { once: true });
      stopWaiting = () => {
        this.#abandon.delete(abandon);
        signal.removeEventListener('abort', abort);
      };
    });
    const ran = this.#limiter.schedule(
      { priority: taskPriorities[priority] },
      async (): Promise<Queued<Result>> => {
        // Bottleneck cannot remove a queued job, so a job that was returned to its caller must do nothing.
        if (given) return { kind: 'wait', milliseconds: 1, reason: 'handed back' };
        begun = true;
        return { kind: 'ran', result: await bound() };
      },
    );
    this.#refill();
    try {
      return await Promise.race([ran, handedBack]);
    } finally {
      stopWaiting();
      ran.catch(() => {});
      handedBack.catch(() => {});
    }
  }

  /** Number of jobs that wait for their turn. */
  get waiting(): number {
    return this.#limiter.counts().QUEUED;
  }

  /** Returns waiting and new jobs to their callers: a stopping worker starts no call that could be interrupted. */
  handBack(): void {
    this.#handsBack = true;
    for (const abandon of this.#abandon) abandon(workerStops);
  }

  /** Makes waiting jobs fail. Resolves when the running jobs are done. */
  async close(): Promise<void> {
    this.#closed = true;
    await this.#limiter.stop({ dropWaitingJobs: true });
  }

  /** Fills the reservoir from the database, one fill at a time, until the reservoir is not empty. */
  #refill(): void {
    if (this.#closed) return;
    this.#dry = true;
    if (this.#refilling) return;
    this.#refilling = true;
    void this.#fillUp().finally(() => {
      this.#refilling = false;
      if (this.#dry) this.#refill();
    });
  }

  /**
   * Adds the free slots to an empty reservoir. Without a free slot it sleeps until the next try, or, if that takes
   * longer than the patience, returns all waiting jobs.
   */
  async #fillUp(): Promise<void> {
    this.#dry = false;
    if (((await this.#limiter.currentReservoir()) ?? 0) > 0) return;
    try {
      const { slots, wait } = await this.#options.freeSlots();
      if (slots > 0) {
        await this.#limiter.incrementReservoir(Math.min(slots, largestRefill));
      } else if (wait && wait.milliseconds > this.#options.patienceMilliseconds) {
        for (const abandon of this.#abandon) abandon(wait);
      } else {
        await sleep(wait?.milliseconds ?? 100, undefined, { ref: false });
        this.#dry = true;
      }
    } catch {
      // The database is unreachable. The waiting activity reports this error, and the queue tries again.
      await sleep(1_000, undefined, { ref: false });
      this.#dry = true;
    }
  }
}

/**
 * Makes Bottleneck ignore the time of its last job, before which it starts no job. A clock that is set back by an hour
 * would delay every call by an hour, and no option of the pinned version avoids this.
 */
function startAtOnce(limiter: Bottleneck): void {
  const { _store: store } = limiter as unknown as { readonly _store: object };
  Object.defineProperty(store, '_nextRequest', { get: () => 0, set: () => {} });
}
