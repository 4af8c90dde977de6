/** `600/hour`: a number of calls in a fixed window that the first request opens. */
export interface WindowLimit {
  /** Infinity: unlimited, as the headers report. */
  readonly calls: number;
  readonly seconds: number;
}

/** The usage of one window. Null: unlimited. */
export interface WindowUsage {
  readonly limit: number | null;
  readonly consumed: number;
  readonly left_over: number | null;
}

interface OpenWindow {
  readonly endsAt: number;
  readonly used: number;
}

const named = new Map([
  ['second', 1],
  ['minute', 60],
  ['hour', 3_600],
  ['day', 86_400],
]);
const units: Record<string, number> = { s: 1, m: 60, h: 3_600, d: 86_400, w: 604_800 };
const headerNames: Record<number, string> = { 60: 'minute', 3_600: 'hourly', 86_400: '24-hour' };

/** Windows in usage statistics, limited or not. */
const reported = { minute: 60, hour: 3_600, day: 86_400 } as const;

/**
 * Reads the format of the pipeline's RATE_LIMITS (`600/hour`, `20/10s,100/5m`, `unlimited`), and
 * `unlimited/hour`, which the headers then report.
 *
 * @throws RangeError
 */
export function parseWindowLimits(text: string): WindowLimit[] {
  if (text.trim().toLowerCase() === 'unlimited') return [];
  return text
    .split(',')
    .map((part) => {
      const [, calls, window = ''] =
        /^\s*(\d{1,9}|unlimited)\s*\/\s*(\w+)\s*$/.exec(part.toLowerCase()) ?? [];
      const [, count, unit = ''] = /^(\d{1,9})([smhdw])$/.exec(window) ?? [];
      const seconds = named.get(window) ?? Number(count) * (units[unit] ?? 0);
      const limit = calls === 'unlimited' ? Number.POSITIVE_INFINITY : Number(calls);
      if (limit > 0 && seconds > 0) return { calls: limit, seconds };
      throw new RangeError(`"${part.trim()}" is not a limit such as 600/hour, 20/10s or 100/5m`);
    })
    .sort((left, right) => left.seconds - right.seconds);
}

/**
 * The service's count per team and endpoint: fixed windows that the first request opens. They use the time of
 * arrival, as the log does; a sandbox clock that is set ahead changes only dates.
 */
export class RateWindows {
  readonly #limits: readonly WindowLimit[];
  readonly #counted: ReadonlySet<number>;
  readonly #open = new Map<string, OpenWindow>();

  constructor(limits: readonly WindowLimit[]) {
    this.#limits = limits;
    this.#counted = new Set([...limits.map((limit) => limit.seconds), ...Object.values(reported)]);
  }

  /**
   * Counts a call unless a window is full; a refused call takes no slot.
   *
   * @param others calls of other programs of the team, which the service counts too
   * @returns the headers of the answer; for a refused call, the exceeded window
   */
  count(
    endpoint: string,
    arrivedAt: number,
    others = 0,
  ): { headers: Record<string, string>; refused: Exceeded | undefined } {
    const full = this.#limits.find(
      ({ calls, seconds }) => this.#used(endpoint, seconds, arrivedAt) + others >= calls,
    );
    if (!full) this.#take(endpoint, arrivedAt);
    const refused = full && {
      limit: full,
      seconds: Math.max(1, Math.ceil((this.#endsAt(endpoint, full.seconds, arrivedAt) - arrivedAt) / 1_000)),
    };
    return { headers: this.headers(endpoint, arrivedAt, others), refused };
  }

  /** The headers of an answer to a call that is not counted. */
  headers(endpoint: string, at: number, others = 0): Record<string, string> {
    const headers: Record<string, string> = {};
    for (const { calls, seconds } of this.#limits) {
      const name = headerNames[seconds];
      if (!name) continue;
      const used = Math.min(calls, this.#used(endpoint, seconds, at) + others);
      // The value of an unlimited window is empty, as observed.
      headers[`x-rate-limit-${name}`] = calls === Number.POSITIVE_INFINITY ? '' : String(calls);
      headers[`x-${name}-usage`] = String(used);
      headers[`x-${name}-requests-left`] = calls === Number.POSITIVE_INFINITY ? '' : String(calls - used);
    }
    return headers;
  }

  usage(endpoint: string, at: number, others = 0): Record<keyof typeof reported, WindowUsage> {
    const usageOf = (seconds: number): WindowUsage => {
      const limit = this.#limits.find((each) => each.seconds === seconds)?.calls ?? Number.POSITIVE_INFINITY;
      const consumed = Math.min(limit, this.#used(endpoint, seconds, at) + others);
      return limit === Number.POSITIVE_INFINITY
        ? { limit: null, consumed, left_over: null }
        : { limit, consumed, left_over: limit - consumed };
    };
    return { minute: usageOf(reported.minute), hour: usageOf(reported.hour), day: usageOf(reported.day) };
  }

  /** Counts the calls of a log from before a restart, as far as a window can still be open. */
  replay(
    calls: readonly { readonly path: string; readonly at: number; readonly refused: boolean }[],
    now: number,
  ): void {
    const longest = Math.max(...this.#counted) * 1_000;
    for (const { path, at, refused } of calls) if (!refused && at > now - longest) this.#take(path, at);
  }

  #used(endpoint: string, seconds: number, at: number): number {
    const window = this.#open.get(`${endpoint} ${seconds}`);
    return window && at < window.endsAt ? window.used : 0;
  }

  /** The end of the window; without an open window, the end of one that opens now. */
  #endsAt(endpoint: string, seconds: number, at: number): number {
    const window = this.#open.get(`${endpoint} ${seconds}`);
    return window && at < window.endsAt ? window.endsAt : at + seconds * 1_000;
  }

  #take(endpoint: string, at: number): void {
    for (const seconds of this.#counted) {
      this.#open.set(`${endpoint} ${seconds}`, {
        endsAt: this.#endsAt(endpoint, seconds, at),
        used: this.#used(endpoint, seconds, at) + 1,
      });
    }
  }
}

export interface Exceeded {
  readonly limit: WindowLimit;
  readonly seconds: number;
}
