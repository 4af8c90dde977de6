/**
 * Refused calls (422) are free: ten batches in flight with one such person each begin with two of them. A failed call
 * may have been billed and holds credits, so five of them are too many.
 */
const longest = 30;
const weights = { refused: 1, failed: 6 } as const;
/** Calls that cannot be sent cost nothing. A run survives a restart of DNS or of a proxy without an operator. */
const unsentPatienceMilliseconds = 120_000;
/** A call that could not be sent longer ago belongs to an earlier outage. */
const forgottenMilliseconds = 600_000;
const shortestPause = 500;
const longestPause = 15_000;

/**
 * Counts the calls in a row that failed, were refused or could not be sent, for each run of this worker. A long streak
 * pauses the run: the service is down, or it refuses everybody.
 */
export class CallStreaks {
  readonly #lengths = new Map<string, number>();
  #unsent: { since: number; last: number } | undefined;

  /** Counts one more call without success. @returns whether the streak is so long that the run must pause */
  tooLong(runId: string, ended: keyof typeof weights): boolean {
    const length = (this.#lengths.get(runId) ?? 0) + weights[ended];
    this.#lengths.set(runId, length);
    return length >= longest;
  }

  /**
   * Notes a call that could not be sent.
   *
   * @returns milliseconds until the next try, and whether an outage begins; undefined: calls could not be sent for too
   *   long
   */
  pauseOfUnsent(): { readonly milliseconds: number; readonly isFirst: boolean } | undefined {
    const now = performance.now();
    const before = this.#unsent;
    const isFirst = before === undefined || now - before.last > forgottenMilliseconds;
    const since = isFirst ? now : before.since;
    this.#unsent = { since, last: now };
    const lasted = now - since;
    if (lasted >= unsentPatienceMilliseconds) return undefined;
    return { milliseconds: Math.min(Math.max(lasted, shortestPause), longestPause), isFirst };
  }

  /** Notes a call that was sent, however it ended: calls can be sent again. */
  endUnsent(): void {
    this.#unsent = undefined;
  }

  /** Ends the streaks of a run: the service accepted a call. */
  end(runId: string): void {
    this.#lengths.delete(runId);
    this.endUnsent();
  }
}
