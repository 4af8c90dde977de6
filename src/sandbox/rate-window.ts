/** `600/hour`: so many calls in a fixed window that the first request opens. */
export interface WindowLimit {
  readonly calls: number;
  readonly seconds: number;
}

const named: Record<string, number> = { second: 1, minute: 60, hour: 3_600, day: 86_400 };
const units: Record<string, number> = { s: 1, m: 60, h: 3_600, d: 86_400, w: 604_800 };
const headerNames: Record<number, string> = { 60: 'minute', 3_600: 'hourly', 86_400: '24-hour' };

/** Reads `600/hour`, `20/10s,100/5m` or `unlimited`: all that the pipeline's RATE_LIMITS takes. @throws RangeError */
export function parseWindowLimits(text: string): WindowLimit[] {
  if (text.trim().toLowerCase() === 'unlimited') return [];
  return text
    .split(',')
    .map((part) => {
      const [, calls, window = ''] = /^\s*(\d{1,9})\s*\/\s*(\w+)\s*$/.exec(part.toLowerCase()) ?? [];
      const [, count, unit = ''] = /^(\d{1,9})([smhdw])$/.exec(window) ?? [];
      const seconds = named[window] ?? Number(count) * (units[unit] ?? 0);
      if (Number(calls) > 0 && seconds > 0) return { calls: Number(calls), seconds };
      throw new RangeError(`"${part.trim()}" is not a limit such as 600/hour, 20/10s or 100/5m`);
    })
    .sort((left, right) => left.seconds - right.seconds);
}

/** The service's own count, per team and endpoint: fixed windows, opened by the first request in them. */
export class RateWindows {
  readonly #limits: readonly WindowLimit[];
  readonly #open = new Map<string, { endsAt: number; used: number }>();

  constructor(limits: readonly WindowLimit[]) {
    this.#limits = limits;
  }

  /**
   * Counts a call.
   *
   * @param used calls of other programs of the same team, which the service counts as well
   * @returns the headers of the answer, and for how many seconds the call is refused, if it is
   */
  count(
    endpoint: string,
    now: number,
    used = 0,
  ): { headers: Record<string, string>; refused: Refusal | undefined } {
    const windows = this.#limits.map((limit) => ({ limit, window: this.#window(endpoint, limit, now) }));
    const full = windows.find(({ limit, window }) => window.used + used >= limit.calls);
    if (!full) for (const { window } of windows) window.used += 1;
    const headers: Record<string, string> = {};
    for (const { limit, window } of windows) {
      const name = headerNames[limit.seconds];
      if (!name) continue;
      const counted = Math.min(limit.calls, window.used + used);
      headers[`x-rate-limit-${name}`] = String(limit.calls);
      headers[`x-${name}-usage`] = String(counted);
      headers[`x-${name}-requests-left`] = String(limit.calls - counted);
    }
    const refused = full && {
      limit: full.limit,
      seconds: Math.max(1, Math.ceil((full.window.endsAt - now) / 1_000)),
    };
    return { headers, refused };
  }

  #window(endpoint: string, limit: WindowLimit, now: number): { endsAt: number; used: number } {
    const key = `${endpoint} ${limit.seconds}`;
    let window = this.#open.get(key);
    if (!window || now >= window.endsAt) {
      window = { endsAt: now + limit.seconds * 1_000, used: 0 };
      this.#open.set(key, window);
    }
    return window;
  }
}

export interface Refusal {
  readonly limit: WindowLimit;
  readonly seconds: number;
}
