import type { ReportedWindow } from '../domain/rates/rate-limit.ts';
import type { Headers } from './transport.ts';

/** A reported window with its name. */
export interface RateWindow extends ReportedWindow {
  readonly window: 'minute' | 'hour' | 'day';
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
    const figures = readWindowFigures({
      limit: find((name) => `x-rate-limit-${name}`),
      used: find((name) => `x-${name}-usage`),
      left: find((name) => `x-${name}-requests-left`),
    });
    if (Object.values(figures).every((figure) => figure === undefined)) return [];
    return [{ window, seconds, ...figures }];
  });
}

/**
 * Reads the figures of a window, from headers or from the usage statistics: whole numbers, also as text. Empty or null
 * is unlimited. Fewer than 0 calls left of a limit are 0: the service has counted more calls than it allows.
 */
export function readWindowFigures(
  said: Readonly<Record<'limit' | 'used' | 'left', unknown>>,
): Pick<RateWindow, 'limit' | 'used' | 'left'> {
  const limit = readCount(said.limit);
  const isOverdrawn = typeof limit === 'number' && /^-\d{1,15}$/.test(textOf(said.left) ?? '');
  return {
    limit,
    used: readCount(said.used) ?? undefined,
    left: isOverdrawn ? 0 : readCount(said.left),
  };
}

function readCount(value: unknown): number | null | undefined {
  const text = textOf(value);
  if (text === '') return null;
  return text !== undefined && /^\d{1,15}$/.test(text) ? Number(text) : undefined;
}

function textOf(value: unknown): string | undefined {
  if (value === null) return '';
  return typeof value === 'string' || typeof value === 'number' ? String(value).trim() : undefined;
}
