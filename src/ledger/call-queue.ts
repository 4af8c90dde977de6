import { AsyncResource } from 'node:async_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import Bottleneck from 'bottleneck';
import { taskPriorities, type RunPriority } from '../contract/temporal-names.ts';
import type { Wait } from './rate-windows.ts';

/** Another worker can take the job within this time. */
const workerStops: Wait = { milliseconds: 1_000, reason: 'its worker is stopping' };

/** Without a rate limit there are infinitely many slots, but Bottleneck's reservoir must be finite. */
const largestRefill = 10_000;

export interface CallQueueOptions {
  /** Calls that this process keeps in flight at once. */
  readonly concurrency: number;
  /** Reads the free slots from the database, which all processes share. */
  readonly freeSlots: () => Promise<{ slots: number; wait: Wait | undefined }>;
  /** Maximum wait in the queue. A call with a longer wait is handed back to the caller. */
  readonly patienceMilliseconds: number;
}

type Queued<Result> = { readonly kind: 'ran'; readonly result: Result } | ({ readonly kind: 'wait' } & Wait);

/**
 * Orders the calls of this process with Bottleneck: limits the calls in flight, starts ad hoc before nightly before
 * backfill calls, and starts no more calls than the rate windows have slots.
 *
 * Bottleneck's reservoir is this process's copy of the free slots. The queue fills it from the database when it is
 * empty, with `incrementReservoir`. Bottleneck's own windows lose their counts at a restart and allow twice the limit
 * at an edge. Each job must still be admitted by the database, because other processes use the same slots.
 */
export class CallQueue {
  readonly #limiter: Bottleneck;
  readonly #options: CallQueueOptions;
  readonly #abandon = new Set<(wait: Wait) => void>();
  #refilling = false;
  #dry = false;
  #handsBack = false;
  #closed = false;

  constructor(options: CallQueueOptions) {
    this.#options = options;
    this.#limiter = new Bottleneck({ maxConcurrent: options.concurrency, reservoir: 0 });
    startAtOnce(this.#limiter);
    this.#limiter.on('depleted', () => this.#refill());
  }

  /**
   * Runs a job in its turn.
   *
   * @param signal ends the wait for the turn; a job that has begun is not interrupted
   * @returns the result of the job; if it has not begun, the wait that exceeded the patience or came from `handBack`
   * @throws what the job throws, or the reason of the signal
   */
  async run<Result>(
    priority: RunPriority,
    job: () => Promise<Result>,
    signal: AbortSignal,
  ): Promise<Queued<Result>> {
    signal.throwIfAborted();
    if (this.#handsBack) return { kind: 'wait', ...workerStops };
    // Bottleneck starts a job when another one ends. Without this binding, the new job would be in the other job's
    // trace.
    const bound = AsyncResource.bind(job);
    let begun = false;
    let given = false;
    let stopWaiting = (): void => {};
    const handedBack = new Promise<Queued<Result>>((resolve, reject) => {
      const abandon = (wait: Wait): void => {
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
        // Bottleneck cannot remove a queued job, so a job that was handed back must do nothing.
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

  get waiting(): number {
    return this.#limiter.counts().QUEUED;
  }

  /**
   * Hands back waiting and new jobs. A stopping worker finishes its calls in flight, and starts none: the end of its
   * grace period could cut them off.
   */
  handBack(): void {
    this.#handsBack = true;
    for (const abandon of this.#abandon) abandon(workerStops);
  }

  /** Fails waiting jobs. Resolves when the running jobs are done. */
  async close(): Promise<void> {
    this.#closed = true;
    await this.#limiter.stop({ dropWaitingJobs: true });
  }

  /** Fills the reservoir, one filling at a time. A reservoir that becomes empty in the meantime is filled again. */
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
      // The database is away. The waiting activity reports this; the queue tries again.
      await sleep(1_000, undefined, { ref: false });
      this.#dry = true;
    }
  }
}

/**
 * Makes Bottleneck ignore the time of its last job. Bottleneck starts no job before that time by the wall clock, so a
 * clock that is set back by an hour would hold every call for an hour. Bottleneck has no option for it. Its version is
 * pinned, and a test sets the clock back.
 */
function startAtOnce(limiter: Bottleneck): void {
  const { _store: store } = limiter as unknown as { readonly _store: object };
  Object.defineProperty(store, '_nextRequest', { get: () => 0, set: () => {} });
}
