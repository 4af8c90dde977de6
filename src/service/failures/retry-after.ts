import { headerValue, type Headers } from '../transport.ts';

/** The service's longest window; a longer pause is a fault of the service. */
const longestSeconds = 86_400;

const httpDate = /^[a-z]{3}, \d{2} [a-z]{3} \d{4} \d{2}:\d{2}:\d{2} GMT$/i;

/** Usual names of the end of a window, in seconds from now or as a time since 1970. */
const windowEnds = ['ratelimit-reset', 'x-ratelimit-reset', 'x-rate-limit-reset'];

/**
 * The pause that the service requests: the longest of the `retry-after` header and the values of the body; without
 * these the latest end of a window in the headers, whose names the interface document does not show.
 *
 * A time is compared with the answer's own `date` header, so that a wrong clock on this machine has no effect.
 *
 * @param named seconds that the body names
 * @param receivedAt milliseconds since 1970, for answers without a date
 * @returns whole seconds from 0 to a day; undefined without a usable value
 */
export function readRetryAfter(
  headers: Headers,
  named: readonly (number | undefined)[],
  receivedAt: number,
): number | undefined {
  const date = headerValue(headers, 'date');
  const now = date !== undefined && httpDate.test(date) ? Date.parse(date) : receivedAt;
  const asked = longestOf([readHeader(headerValue(headers, 'retry-after'), now), ...named]);
  return (
    asked ??
    longestOf(windowEnds.map((name) => secondsUntil(readHeader(headerValue(headers, name), now), now)))
  );
}

function longestOf(seconds: readonly (number | undefined)[]): number | undefined {
  const usable = seconds.filter((value) => value !== undefined && !Number.isNaN(value));
  if (usable.length === 0) return undefined;
  return Math.min(Math.max(Math.ceil(Math.max(...usable.map(Number))), 0), longestSeconds);
}

/** @param value seconds from now, or seconds or milliseconds since 1970 */
function secondsUntil(value: number | undefined, now: number): number | undefined {
  if (value === undefined || value < 1e9) return value;
  return (value < 1e12 ? value : value / 1_000) - now / 1_000;
}

function readHeader(value: string | undefined, now: number): number | undefined {
  if (value === undefined) return undefined;
  const text = value.trim();
  if (/^\d+(?:\.\d+)?$/.test(text)) return Number(text);
  return httpDate.test(text) ? (Date.parse(text) - now) / 1_000 : undefined;
}
