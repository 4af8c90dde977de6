import { AsyncResource } from 'node:async_hooks';
import Bottleneck from 'bottleneck';
import type { Wait } from './rate-windows.ts';

/** Bottleneck's own order: a lower number goes first. */
const priorities = { 'ad-hoc': 3, nightly: 5, backfill: 7 } as const;

/** Until then another worker may have come to take the job. */
const workerStops: Wait = { milliseconds: 1_000, reason: 'the worker that had it is being stopped' };

/** Without a limit the slots are endless; the reservoir is a number all the same. */
const largestRefill = 10_000;

export type Priority = keyof typeof priorities;

export interface CallQueueOptions {
  /** Calls that this process keeps in flight at once. */
  readonly concurrency: number;
  /** What the database says is free: the truth across processes and restarts. */
  readonly freeSlots: () => Promise<{ places: number; wait: Wait | undefined }>;
  /** A wait up to this many milliseconds is sat out in the queue; a longer one is handed back to the caller. */
  readonly patienceMilliseconds: number;
}

export type Queued<Result> =
  { readonly kind: 'ran'; readonly result: Result } | ({ readonly kind: 'wait' } & Wait);

/**
 * Orders and spaces the calls of this process, by Bottleneck: so many at once, ad hoc before nightly before backfill,
 * and no more than the rate windows still hold.
 *
 * Bottleneck's reservoir is this process's copy of the free slots. It is seeded from the database, and filled up from
 * it whenever it runs dry, always by `incrementReservoir`: `updateSettings({reservoir})` beside a refresh interval
 * never fires again, and Bottleneck's own windows forget everything at a restart and pass twice the limit at an edge. A
 * job that gets through still has to be admitted by the database, which other processes use as well.
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
   * Runs a job when its turn has come.
   *
   * @param signal gives up waiting; a job that has begun is not interrupted by the queue
   * @returns the job's result; or, of a job that has not begun, the wait that is longer than the queue's patience or
   *   that begins with `handBack`
   * @throws what the job throws, or the signal's reason
   */
  async run<Result>(
    priority: Priority,
    job: () => Promise<Result>,
    signal: AbortSignal,
  ): Promise<Queued<Result>> {
    signal.throwIfAborted();
    if (this.#handsBack) return { kind: 'wait', ...workerStops };
    // Bottleneck starts a job wherever another one ends: what it is part of (its trace) would be that other's.
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
      { priority: priorities[priority] },
      async (): Promise<Queued<Result>> => {
        // Handed back already: Bottleneck cannot take a job out of its queue, so it runs empty.
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

  /** Jobs that wait for their turn. */
  get waiting(): number {
    return this.#limiter.counts().QUEUED;
  }

  /**
   * Begins no further job: those that wait are handed back, and so is whatever comes. A worker that is stopped waits
   * for the calls in flight; the batches behind them would be as many calls again, and some of those cut off at the end
   * of its grace.
   */
  handBack(): void {
    this.#handsBack = true;
    for (const abandon of this.#abandon) abandon(workerStops);
  }

  /** Starts no further job, and fails those that wait; resolves when the jobs that have begun are done. */
  async close(): Promise<void> {
    this.#closed = true;
    await this.#limiter.stop({ dropWaitingJobs: true });
  }

  /** Fills the reservoir up, one filling at a time; running dry meanwhile makes it start over. */
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
      const { places, wait } = await this.#options.freeSlots();
      if (places > 0) {
        await this.#limiter.incrementReservoir(Math.min(places, largestRefill));
      } else if (wait && wait.milliseconds > this.#options.patienceMilliseconds) {
        for (const abandon of this.#abandon) abandon(wait);
      } else {
        await pause(wait?.milliseconds ?? 100);
        this.#dry = true;
      }
    } catch {
      // The database is away: the activity that waits reports it; here it is only asked again.
      await pause(1_000);
      this.#dry = true;
    }
  }
}

/**
 * Bottleneck starts no job before the moment at which the last one started, by the wall clock, even where no spacing is
 * set: a clock that is put back by an hour would hold every call for an hour. There is no option for it; here that
 * moment is always past. Its version is pinned, and a test puts the clock back.
 */
function startAtOnce(limiter: Bottleneck): void {
  const { _store: store } = limiter as unknown as { readonly _store: object };
  Object.defineProperty(store, '_nextRequest', { get: () => 0, set: () => {} });
}

function pause(milliseconds: number): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, milliseconds).unref();
  });
}
