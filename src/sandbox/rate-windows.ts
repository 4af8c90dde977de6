/** Maximum number of calls in a window. Infinity means unlimited, which the headers report. */
export interface WindowLimit {
  readonly calls: number;
  readonly seconds: number;
}

interface OpenWindow {
  readonly endsAt: number;
  readonly used: number;
}

const named: Record<string, number> = { second: 1, minute: 60, hour: 3_600, day: 86_400 };
const units: Record<string, number> = { s: 1, m: 60, h: 3_600, d: 86_400 };
const headerNames: Record<number, string> = { 60: 'minute', 3_600: 'hourly', 86_400: '24-hour' };

/** Parses RATE_LIMITS, shortest window first. `unlimited/hour` limits nothing, but answers have its headers. */
export function parseWindowLimits(text: string): WindowLimit[] {
  if (text.trim().toLowerCase() === 'unlimited') return [];
  const limits = text.split(',').map((part) => {
    const [, calls, window = ''] = /^\s*(\d{1,9}|unlimited)\s*\/\s*(\w+)\s*$/.exec(part.toLowerCase()) ?? [];
    const [, count, unit = ''] = /^(\d{1,9})([smhd])$/.exec(window) ?? [];
    const seconds = named[window] ?? Number(count) * (units[unit] ?? 0);
    const limit = calls === 'unlimited' ? Number.POSITIVE_INFINITY : Number(calls);
    if (limit > 0 && seconds > 0 && seconds <= 86_400) return { calls: limit, seconds };
    throw new RangeError(`"${part.trim()}" is not a limit such as 600/hour, 20/10s or 100/5m`);
  });
  return limits.sort((left, right) => left.seconds - right.seconds);
}

/** Fixed rate windows, which open at their first call, by the real time and not by that of `--clock`. */
export class RateWindows {
  readonly #limits: readonly WindowLimit[];
  /** Seconds of the windows to count: those with a limit, and those of the usage statistics. */
  readonly #counted: ReadonlySet<number>;
  readonly #open = new Map<string, OpenWindow>();

  constructor(limits: readonly WindowLimit[]) {
    this.#limits = limits;
    this.#counted = new Set([...limits.map((limit) => limit.seconds), 60, 3_600, 86_400]);
  }

  /** Counts a call; other programs have made `others`. @returns a full window instead, and the seconds until it ends */
  count(path: string, at: number, others = 0) {
    const full = this.#limits.find(
      ({ calls, seconds }) => this.#window(path, seconds, at).used + others >= calls,
    );
    if (full) {
      const { endsAt } = this.#window(path, full.seconds, at);
      return { limit: full, seconds: Math.max(1, Math.ceil((endsAt - at) / 1_000)) };
    }
    for (const seconds of this.#counted) {
      const { endsAt, used } = this.#window(path, seconds, at);
      this.#open.set(`${path} ${seconds}`, { endsAt, used: used + 1 });
    }
    return undefined;
  }

  /** Makes the rate headers of an answer. For an unlimited window the value is empty, as the real service sends it. */
  headers(path: string, at: number, others = 0): Record<string, string> {
    const headers: Record<string, string> = {};
    for (const { seconds } of this.#limits) {
      const name = headerNames[seconds];
      if (!name) continue;
      const { limit, consumed, left_over: left } = this.#usageOf(path, seconds, at, others);
      headers[`x-rate-limit-${name}`] = String(limit ?? '');
      headers[`x-${name}-usage`] = String(consumed);
      headers[`x-${name}-requests-left`] = String(left ?? '');
    }
    return headers;
  }

  usage(path: string, at: number, others = 0) {
    return {
      minute: this.#usageOf(path, 60, at, others),
      hour: this.#usageOf(path, 3_600, at, others),
      day: this.#usageOf(path, 86_400, at, others),
    };
  }

  /** After a restart, counts the logged calls again, except those that were refused with 429. */
  replay(
    calls: readonly { readonly path: string; readonly at: number; readonly status: number }[],
    now: number,
  ): void {
    const longest = Math.max(...this.#counted) * 1_000;
    for (const { path, at, status } of calls) if (status !== 429 && at > now - longest) this.count(path, at);
  }

  #usageOf(path: string, seconds: number, at: number, others: number) {
    const { calls = Number.POSITIVE_INFINITY } = this.#limits.find((each) => each.seconds === seconds) ?? {};
    const consumed = Math.min(calls, this.#window(path, seconds, at).used + others);
    const isLimited = calls !== Number.POSITIVE_INFINITY;
    return { limit: isLimited ? calls : null, consumed, left_over: isLimited ? calls - consumed : null };
  }

  #window(path: string, seconds: number, at: number): OpenWindow {
    const window = this.#open.get(`${path} ${seconds}`);
    return window && at < window.endsAt ? window : { endsAt: at + seconds * 1_000, used: 0 };
  }
}
