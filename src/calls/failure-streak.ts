/**
 * Failures in a row of one worker's calls. While the service is down each call would become unknown and hold credits; a
 * streak ends the run's calls before hundreds do.
 */
export class FailureStreak {
  #length = 0;
  readonly #longest: number;

  /** @param longest so many failures in a row are borne */
  constructor(longest = 5) {
    this.#longest = longest;
  }

  /** Counts one more failure. */
  tooLong(): boolean {
    this.#length += 1;
    return this.#length >= this.#longest;
  }

  /** Half a second, doubled by each failure in a row. */
  backoffMilliseconds(): number {
    return 250 * 2 ** this.#length;
  }

  /** A call went through. */
  end(): void {
    this.#length = 0;
  }
}
