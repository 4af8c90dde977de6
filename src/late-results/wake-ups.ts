/** Sends one run's wake-up; fails where that is not possible now. */
export type Wake = (runId: string) => Promise<void>;

const firstPauseMilliseconds = 1_000;
const longestPauseMilliseconds = 5 * 60_000;
/** A run without deliveries for this long begins anew with short pauses. */
const forgetAfterMilliseconds = 30 * 60_000;
/** Longest wait for the last wake-ups while Temporal is down. */
const closeMilliseconds = 3_000;

interface Sleeper {
  readonly timer: NodeJS.Timeout;
  pause: number;
  waiting: boolean;
}

/**
 * Coalesces wake-ups: the first delivery of a run wakes it after a second, and further ones wake it after pauses that
 * double, up to five minutes. A hundred deliveries within ten minutes are some ten signals, and each signal is one
 * action that Temporal bills.
 *
 * A killed process loses its wake-ups. The inbox keeps the deliveries, and the run also drains it by timer.
 */
export class WakeUps {
  readonly #wake: Wake;
  readonly #sleepers = new Map<string, Sleeper>();
  #closed = false;

  constructor(wake: Wake) {
    this.#wake = wake;
  }

  /** A delivery of this run is stored. */
  stored(runId: string): void {
    const sleeper = this.#sleepers.get(runId);
    if (this.#closed || sleeper?.waiting) return;
    const pause = sleeper ? Math.min(sleeper.pause * 2, longestPauseMilliseconds) : firstPauseMilliseconds;
    clearTimeout(sleeper?.timer);
    this.#sleepers.set(runId, {
      pause,
      waiting: true,
      timer: setTimeout(() => void this.#ring(runId), pause),
    });
  }

  /** Sends all pending wake-ups at once, and ends. */
  async close(): Promise<void> {
    this.#closed = true;
    const waiting = [...this.#sleepers].filter(([, sleeper]) => sleeper.waiting).map(([runId]) => runId);
    for (const { timer } of this.#sleepers.values()) clearTimeout(timer);
    this.#sleepers.clear();
    const rung = Promise.all(waiting.map((runId) => this.#wake(runId).catch(() => {})));
    await Promise.race([rung, new Promise((resolve) => setTimeout(resolve, closeMilliseconds).unref())]);
  }

  async #ring(runId: string): Promise<void> {
    const { pause } = this.#sleepers.get(runId) ?? { pause: firstPauseMilliseconds };
    this.#sleepers.set(runId, {
      pause,
      waiting: false,
      timer: setTimeout(() => this.#sleepers.delete(runId), forgetAfterMilliseconds).unref(),
    });
    try {
      await this.#wake(runId);
    } catch {
      // Temporal is away: as if another delivery had come.
      this.stored(runId);
    }
  }
}
