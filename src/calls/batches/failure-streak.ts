/** Number of failures in a row that is too long. */
const longest = 5;
/** Calls that cannot be sent cost nothing. A run survives a restart of DNS or of a proxy without a person. */
const unsentPatienceMilliseconds = 120_000;
/** A failure that is longer ago belongs to an earlier outage. */
const forgottenMilliseconds = 600_000;
const shortestPause = 500;
const longestPause = 15_000;

/**
 * Counts failures in a row of one worker's calls. While the service is down, each call would become unknown and hold
 * credits. A long streak pauses the run before hundreds do.
 */
export class FailureStreak {
  #length = 0;
  #unsent: { since: number; last: number } | undefined;

  /** Counts one more failure of a call that was sent. @returns whether the streak is too long */
  tooLong(): boolean {
    this.#length += 1;
    return this.#length >= longest;
  }

  /**
   * Notes a call that could not be sent.
   *
   * @returns milliseconds until the next try; undefined: calls could not be sent for too long
   */
  pauseOfUnsent(): number | undefined {
    const now = performance.now();
    const { since, last } = this.#unsent ?? { since: now, last: now };
    const isForgotten = now - last > forgottenMilliseconds;
    this.#unsent = { since: isForgotten ? now : since, last: now };
    const lasted = now - this.#unsent.since;
    if (lasted >= unsentPatienceMilliseconds) return undefined;
    return Math.min(Math.max(lasted, shortestPause), longestPause);
  }

  /** Notes a call that was sent, however it ended: calls can be sent again. */
  endUnsent(): void {
    this.#unsent = undefined;
  }

  end(): void {
    this.#length = 0;
    this.#unsent = undefined;
  }
}
