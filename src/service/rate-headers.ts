import { callsLeft, unlimitedCalls, type ReportedWindow } from '../domain/rates/rate-limit.ts';
import { headerValue, type Headers } from './transport.ts';

export interface RateWindow extends ReportedWindow {
  readonly window: 'minute' | 'hour' | 'day';
}

type WindowFigures = Omit<ReportedWindow, 'seconds'>;

/** The rate windows that a service reports, with their names in headers. `daily` is the older name of `24-hour`. */
export const rateHeaderWindows = [
  { window: 'minute', seconds: 60, names: ['minute'] },
  { window: 'hour', seconds: 3_600, names: ['hourly', 'hour'] },
  { window: 'day', seconds: 86_400, names: ['24-hour', 'daily'] },
] as const;

/**
 * Reads the rate windows, shortest first; none on 401 and 403, which have no such headers. Of two names of a window,
 * the one that leaves fewer calls counts, because the service may fill only one of them.
 */
export function readRateHeaders(headers: Headers): RateWindow[] {
  return rateHeaderWindows.flatMap(({ window, seconds, names }) => {
    const [figures] = names
      .map((name) => readHeadersOf(name, headers))
      .filter((each) => Object.values(each).some((figure) => figure !== undefined))
      .sort((one, other) => (callsLeft(one) ?? unlimitedCalls) - (callsLeft(other) ?? unlimitedCalls));
    return figures ? [{ window, seconds, ...figures }] : [];
  });
}

function readHeadersOf(name: string, headers: Headers): WindowFigures {
  return readWindowCounts({
    limit: headerValue(headers, `x-rate-limit-${name}`),
    used: headerValue(headers, `x-${name}-usage`),
    left: headerValue(headers, `x-${name}-requests-left`),
  });
}

/** Reads the numbers of a rate window. Empty or null: unlimited. Calls beyond the limit make fewer than 0 left: 0. */
export function readWindowCounts(said: Readonly<Record<'limit' | 'used' | 'left', unknown>>): WindowFigures {
  const limit = readCount(said.limit);
  const isOverdrawn = typeof limit === 'number' && /^-\d{1,15}$/.test(textOf(said.left) ?? '');
  return {
    limit,
    used: readCount(said.used) ?? undefined,
    left: isOverdrawn ? 0 : readCount(said.left),
  };
}

/** Reads a number of calls. Null: unlimited (an empty value). Undefined: missing or unreadable. */
function readCount(value: unknown): number | null | undefined {
  const text = textOf(value);
  if (text === '') return null;
  return text !== undefined && /^\d{1,15}$/.test(text) ? Number(text) : undefined;
}

function textOf(value: unknown): string | undefined {
  if (value === null) return '';
  return typeof value === 'string' || typeof value === 'number' ? String(value).trim() : undefined;
}
