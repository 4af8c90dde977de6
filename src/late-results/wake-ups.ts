/** Sends the wake-up of a run; throws if Temporal does not accept it. */
export type Wake = (runId: string) => Promise<void>;

const firstPauseMilliseconds = 1_000;
const longestPauseMilliseconds = 5 * 60_000;
/** After this time without deliveries, the pauses of a run are short again. */
const forgetAfterMilliseconds = 30 * 60_000;
/** Longest wait for the last wake-ups while Temporal is down. */
const closeMilliseconds = 3_000;

interface Sleeper {
  readonly timer: NodeJS.Timeout;
  pause: number;
  waiting: boolean;
}

/**
 * Coalesces wake-ups. The first delivery of a run wakes it after a second; later deliveries wake it after pauses that
 * double, up to five minutes. A hundred deliveries within ten minutes need about ten signals. Temporal Cloud bills each
 * signal as an action.
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

  /** Schedules a wake-up for the run of a stored delivery. */
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
      // Temporal is unreachable: try again as for another delivery.
      this.stored(runId);
    }
  }
}
