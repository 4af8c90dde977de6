import type { Headers } from './transport.ts';

/** One rate window as the service reports it. */
export interface RateWindow {
  readonly window: 'minute' | 'hour' | 'day';
  readonly seconds: number;
  /** Allowed calls; null: unlimited (an empty header); undefined: not reported. */
  readonly limit: number | null | undefined;
  readonly used: number | undefined;
  /** Remaining calls; null: unlimited; undefined: not reported. */
  readonly left: number | null | undefined;
}

/** The windows that a service reports, with their names in headers; `daily` is the older name of `24-hour`. */
export const reportedWindows = [
  { window: 'minute', seconds: 60, names: ['minute'] },
  { window: 'hour', seconds: 3_600, names: ['hourly', 'hour'] },
  { window: 'day', seconds: 86_400, names: ['24-hour', 'daily'] },
] as const;

/**
 * Reads the rate windows from the headers of an answer.
 *
 * @returns the reported windows, shortest first; empty on 401 and 403, which carry no such headers
 */
export function readRateHeaders(headers: Headers): RateWindow[] {
  return reportedWindows.flatMap(({ window, seconds, names }) => {
    const find = (header: (name: string) => string) =>
      names.map((name) => headers[header(name)]).find((value) => typeof value === 'string');
    const limit = readCount(find((name) => `x-rate-limit-${name}`));
    const used = readCount(find((name) => `x-${name}-usage`));
    const left = readCount(find((name) => `x-${name}-requests-left`));
    if (limit === undefined && used === undefined && left === undefined) return [];
    return [{ window, seconds, limit, used: used ?? undefined, left }];
  });
}

function readCount(value: string | string[] | undefined): number | null | undefined {
  if (typeof value !== 'string') return undefined;
  const text = value.trim();
  if (text === '') return null;
  return /^\d{1,15}$/.test(text) ? Number(text) : undefined;
}
