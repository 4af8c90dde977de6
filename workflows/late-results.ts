import { condition } from '@temporalio/workflow';
import type { LateResultsStatus } from '../src/contract/run-facts.ts';
import { counted } from '../src/domain/text/format.ts';

interface LateOptions {
  /** Carries out one sync; the Temporal UI shows the summary. */
  readonly settle: (summary: string) => Promise<LateResultsStatus>;
  readonly onSync: () => void;
  /** Time until the next sync if nothing else is due. */
  readonly pollAfterMilliseconds: number;
  /** The inbox may have deliveries already. */
  readonly isDelivered: boolean;
}

/**
 * Syncs the late results of a run. A sync applies the inbox and makes the polls that are due. It happens when the
 * receiver signals a delivery, when the next poll is due, and at the deadline.
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

  deliveryReceived(): void {
    this.#isDelivered = true;
  }

  async sync(): Promise<void> {
    this.#isDelivered = false;
    this.status = await this.#options.settle(`${this.#summary()}: empty the inbox, poll what is due`);
    this.#options.onSync();
  }

  /** Syncs when due, beside the calls of the run, until stopped. */
  start(): void {
    if (!this.#isStopped) return;
    this.#isStopped = false;
    // Results of later calls may be due before the results that are awaited now.
    this.#background = this.#syncUntil(() => this.#isStopped, this.#options.pollAfterMilliseconds);
    this.#background.catch(() => {});
  }

  /** Ends what `start` began, and waits for a sync that is in progress. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    await this.#background;
  }

  /** Syncs when due until `isEnough`, after the last call. */
  async untilEnough(isEnough: () => boolean): Promise<void> {
    await this.#syncUntil(isEnough, 4 * this.#options.pollAfterMilliseconds);
  }

  /** @param longestPause maximum even if no poll is due, because a killed receiver may lose a signal */
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
      : `late results of ${counted(awaited, 'call')} awaited until ${until}`;
  }

  #pause(longest: number): number {
    const { readAt, nextSyncAt } = this.status;
    // Both times are by the database's clock, which may differ from Temporal's.
    const next =
      nextSyncAt === null ? this.#options.pollAfterMilliseconds : Date.parse(nextSyncAt) - Date.parse(readAt);
    // A short delay lets one sync make several polls that are due about the same time.
    return Math.max(Math.min(next, longest), shortestPauseMilliseconds);
  }
}

const shortestPauseMilliseconds = 1_000;
