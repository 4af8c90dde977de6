import { CancellationScope, condition, isCancellation, sleep } from '@temporalio/workflow';
import type { LateResultsStatus } from '../src/contract.ts';
import { counted } from '../src/domain/text/counted.ts';

/**
 * Syncs the results of a run that come after their answers. One sync applies what lies in the inbox and polls what is
 * due. It happens when the receiver signals a delivery, and when the next poll or the end of the waiting is due.
 *
 * One timer at a time, which is set anew only for an earlier moment: each timer is an action that is billed.
 */
export class LateResults {
  status: LateResultsStatus = {
    awaited: 0,
    expired: 0,
    arrived: 0,
    late: 0,
    orphaned: 0,
    waiting: 0,
    until: null,
    readAt: new Date().toISOString(),
    nextSyncAt: null,
  };
  readonly #settle: (summary: string) => Promise<LateResultsStatus>;
  readonly #onSync: () => void;
  readonly #pollAfterMilliseconds: number;
  #isDelivered: boolean;
  #isDue = false;
  #isStopped = true;
  #background: Promise<void> | undefined;
  #timer: { readonly rings: number; readonly scope: CancellationScope } | undefined;

  /**
   * @param options.settle carries out one sync; the summary is what Temporal's UI shows of it
   * @param options.onSync told after each
   * @param options.pollAfterMilliseconds when to sync next where nothing else is due
   * @param options.isDelivered deliveries may lie in the inbox already
   */
  constructor(options: {
    readonly settle: (summary: string) => Promise<LateResultsStatus>;
    readonly onSync: () => void;
    readonly pollAfterMilliseconds: number;
    readonly isDelivered: boolean;
  }) {
    this.#settle = options.settle;
    this.#onSync = options.onSync;
    this.#pollAfterMilliseconds = options.pollAfterMilliseconds;
    this.#isDelivered = options.isDelivered;
  }

  /** The receiver has stored a delivery. */
  deliveryReceived(): void {
    this.#isDelivered = true;
  }

  async sync(): Promise<void> {
    this.#isDelivered = false;
    this.#isDue = false;
    this.status = await this.#settle(`${this.#summary()}: empty the inbox, poll what is due`);
    this.#onSync();
  }

  /** Syncs whenever it is due beside the calls that are still made, until stopped. */
  start(): void {
    if (!this.#isStopped) return;
    this.#isStopped = false;
    // Results of calls that are still to be made can be due before anything that is awaited now.
    this.#background = this.#syncUntil(() => this.#isStopped, this.#pollAfterMilliseconds);
    this.#background.catch(() => {});
  }

  /** Ends what `start` began, and waits for a sync that is in progress. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    await this.#background;
  }

  /** Syncs whenever it is due, until `isEnough`: every call is made. */
  async untilEnough(isEnough: () => boolean): Promise<void> {
    // What it waits for has changed: the UI shows the summary with which a timer was set.
    this.close();
    await this.#syncUntil(isEnough, 4 * this.#pollAfterMilliseconds);
  }

  /** No further sync will be needed. */
  close(): void {
    this.#timer?.scope.cancel();
    this.#timer = undefined;
  }

  /** @param longestPause also where no poll is due: a signal can be lost with its receiver while the inbox is full */
  async #syncUntil(isEnough: () => boolean, longestPause: number): Promise<void> {
    while (!isEnough()) {
      this.#setTimer(longestPause);
      await condition(() => this.#isDelivered || this.#isDue || isEnough());
      if (!isEnough()) await this.sync();
    }
  }

  #summary(): string {
    const { awaited, until } = this.status;
    return until === null
      ? 'late results'
      : `late results of ${counted(awaited, 'call')} awaited until ${until}`;
  }

  #setTimer(longestPause: number): void {
    const { readAt, nextSyncAt } = this.status;
    // Both by the database's clock, which may differ from Temporal's.
    const next =
      nextSyncAt === null ? this.#pollAfterMilliseconds : Date.parse(nextSyncAt) - Date.parse(readAt);
    // A poll a moment later than due costs nothing, and several that are due within that moment are one sync.
    const pause = Math.max(Math.min(next, longestPause), shortestPauseMilliseconds);
    const rings = Date.now() + pause;
    // The same moment is told a little differently by each sync.
    if (this.#timer && this.#timer.rings <= rings + shortestPauseMilliseconds) return;
    this.#timer?.scope.cancel();
    const timer = { rings, scope: new CancellationScope() };
    this.#timer = timer;
    void this.#ring(timer.scope, pause, `${this.#summary()}: next sync at the latest`);
  }

  async #ring(scope: CancellationScope, pause: number, summary: string): Promise<void> {
    try {
      await scope.run(() => sleep(pause, { summary }));
      this.#timer = undefined;
      this.#isDue = true;
    } catch (error) {
      // Replaced by an earlier one, or closed.
      if (!isCancellation(error)) throw error;
    }
  }
}

const shortestPauseMilliseconds = 1_000;
