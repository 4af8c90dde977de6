import { CancellationScope, condition, isCancellation, sleep } from '@temporalio/workflow';
import type { LateResultsStatus } from '../src/contract.ts';
import { counted } from '../src/domain/text/counted.ts';

/**
 * The part of a run that looks after results which come later. One look applies what lies in the inbox and polls what
 * is due; a look is taken when the receiver says that there is mail, and when the next poll or the end of the waiting
 * is due. One timer at a time, which is set anew only for an earlier moment: each timer is an action that is billed.
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
    nextSyncMilliseconds: null,
  };
  readonly #take: (summary: string) => Promise<LateResultsStatus>;
  readonly #onSync: () => void;
  readonly #pollAfterMilliseconds: number;
  #delivered = false;
  #due = false;
  #timer: { readonly rings: number; readonly scope: CancellationScope } | undefined;

  /**
   * @param options.take takes one look; the summary is what Temporal's UI shows of it
   * @param options.onSync told after each
   * @param options.pollAfterMilliseconds when to look next where nothing else is due
   */
  constructor(options: {
    readonly take: (summary: string) => Promise<LateResultsStatus>;
    readonly onSync: () => void;
    readonly pollAfterMilliseconds: number;
  }) {
    this.#take = options.take;
    this.#onSync = options.onSync;
    this.#pollAfterMilliseconds = options.pollAfterMilliseconds;
  }

  /** The receiver has stored a delivery. */
  deliveryReceived(): void {
    this.#delivered = true;
  }

  async sync(): Promise<void> {
    this.#delivered = false;
    this.#due = false;
    this.status = await this.#take(`${this.#summary()}: empty the inbox, poll what is due`);
    this.#onSync();
  }

  /**
   * Looks whenever there is a reason to, until told that it is enough.
   *
   * @param moreToCome calls are still made: their results can be due before anything that is awaited now
   */
  async watch(enough: () => boolean, { moreToCome }: { moreToCome: boolean }): Promise<void> {
    // What it waits for has changed: the UI shows the summary with which a timer was set.
    if (!moreToCome) this.close();
    while (!enough()) {
      // Also where no poll is due: a wake-up can be lost with its receiver, and the inbox is then full without a word.
      this.#setTimer(moreToCome ? this.#pollAfterMilliseconds : 4 * this.#pollAfterMilliseconds);
      await condition(() => this.#delivered || this.#due || enough());
      if (!enough()) await this.sync();
    }
  }

  /** No further look will be needed. */
  close(): void {
    this.#timer?.scope.cancel();
    this.#timer = undefined;
  }

  #summary(): string {
    const { awaited, until } = this.status;
    return until === null
      ? 'late results'
      : `late results of ${counted(awaited, 'call')} awaited until ${until}`;
  }

  #setTimer(longestPause: number): void {
    const { nextSyncMilliseconds } = this.status;
    // A poll a moment later than due costs nothing, and several that are due within that moment are one look.
    const next = Math.min(nextSyncMilliseconds ?? this.#pollAfterMilliseconds, longestPause);
    const pause = Math.max(next, shortestPauseMilliseconds);
    const rings = Date.now() + pause;
    // The same moment is told a little differently by each look.
    if (this.#timer && this.#timer.rings <= rings + shortestPauseMilliseconds) return;
    this.#timer?.scope.cancel();
    const timer = { rings, scope: new CancellationScope() };
    this.#timer = timer;
    void this.#ring(timer.scope, pause, `${this.#summary()}: next look at the latest`);
  }

  async #ring(scope: CancellationScope, pause: number, summary: string): Promise<void> {
    try {
      await scope.run(() => sleep(pause, { summary }));
      this.#timer = undefined;
      this.#due = true;
    } catch (error) {
      // Replaced by an earlier one, or closed.
      if (!isCancellation(error)) throw error;
    }
  }
}

const shortestPauseMilliseconds = 1_000;
