import { condition } from '@temporalio/workflow';
import type { LateResultsStatus } from '../src/contract/run-facts.ts';
import { formatCount } from '../src/domain/text/format.ts';

interface LateOptions {
  /** Runs the sync activity. @param summary text that the Temporal UI shows */
  readonly settle: (summary: string) => Promise<LateResultsStatus>;
  readonly onSync: () => void;
  /** Time until the next sync if no poll is due earlier. */
  readonly pollAfterMilliseconds: number;
  /** True if the inbox may already have deliveries. */
  readonly isDelivered: boolean;
}

/**
 * Syncs the late results of a run: applies the inbox, and makes polls that are due. A sync starts after a signal of the
 * receiver, when a poll is due, and at the deadline.
 */
export class LateResults {
  status: LateResultsStatus = {
    awaited: 0,
    expired: 0,
    arrived: 0,
    polled: 0,
    late: 0,
    duplicate: 0,
    quarantined: 0,
    waiting: 0,
    until: null,
    readAt: new Date().toISOString(),
    nextPollAt: null,
    nextSyncAt: null,
  };
  readonly #options: LateOptions;
  #isDelivered: boolean;
  #isStopped = true;
  #background: Promise<void> | undefined;

  constructor(options: LateOptions) {
    this.#options = options;
    this.#isDelivered = options.isDelivered;
  }

  /** Makes the next sync start now. */
  deliveryReceived(): void {
    this.#isDelivered = true;
  }

  /** Runs the sync activity now. */
  async sync(): Promise<void> {
    this.#isDelivered = false;
    this.status = await this.#options.settle(`${this.#summary()}: empty the inbox, poll what is due`);
    this.#options.onSync();
  }

  /** Starts syncs in the background, while the run makes calls. `stop` ends them. */
  start(): void {
    if (!this.#isStopped) return;
    this.#isStopped = false;
    // Results of a later call may be due before those of the earlier calls, so the pause has a maximum.
    this.#background = this.#syncUntil(() => this.#isStopped, this.#options.pollAfterMilliseconds);
    this.#background.catch(() => {});
  }

  /** Stops the background syncs, and waits for a sync in progress. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    await this.#background;
  }

  /** Syncs when due, after the last call of the run, until `isEnough`. */
  async untilEnough(isEnough: () => boolean): Promise<void> {
    await this.#syncUntil(isEnough, 4 * this.#options.pollAfterMilliseconds);
  }

  /**
   * Syncs until `isEnough`.
   *
   * @param longestPause maximum pause without a poll, because a killed receiver may lose a signal
   */
  async #syncUntil(isEnough: () => boolean, longestPause: number): Promise<void> {
    while (!isEnough()) {
      const summary = `${this.#summary()}: next sync at the latest`;
      await condition(() => this.#isDelivered || isEnough(), this.#pause(longestPause), { summary });
      if (!isEnough()) await this.sync();
    }
  }

  #summary(): string {
    const { awaited, until } = this.status;
    return until === null
      ? 'late results'
      : `late results of ${formatCount(awaited, 'call')} awaited until ${until}`;
  }

  /** Milliseconds until the next sync. */
  #pause(longest: number): number {
    const { readAt, nextSyncAt } = this.status;
    // Both times are from the database's clock, which may differ from Temporal's clock.
    const next =
      nextSyncAt === null ? this.#options.pollAfterMilliseconds : Date.parse(nextSyncAt) - Date.parse(readAt);
    // A short minimum lets one sync make several polls that are due at about the same time.
    return Math.max(Math.min(next, longest), shortestPauseMilliseconds);
  }
}

const shortestPauseMilliseconds = 1_000;
