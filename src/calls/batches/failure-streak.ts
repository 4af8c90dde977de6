/** Number of failures in a row that is too long. */
const longest = 5;

/**
 * Counts failures in a row of one worker's calls. While the service is down, each call would become unknown and hold
 * credits. A long streak pauses the run before hundreds do.
 */
export class FailureStreak {
  #length = 0;

  /** Counts one more failure. @returns whether the streak is too long */
  tooLong(): boolean {
    this.#length += 1;
    return this.#length >= longest;
  }

  /** Half a second after the first failure, doubled by each further failure. */
  backoffMilliseconds(): number {
    return 250 * 2 ** this.#length;
  }

  /** Ends the streak after a call that succeeded. */
  end(): void {
    this.#length = 0;
  }
}
