import type { Headers } from '../transport.ts';

/** The service's longest window; a longer pause is a fault of the service. */
const longestSeconds = 86_400;

const httpDate = /^[a-z]{3}, \d{2} [a-z]{3} \d{4} \d{2}:\d{2}:\d{2} GMT$/i;

/**
 * The pause that the service requests: the longest of the `retry-after` header and the values of the body.
 *
 * A date is compared with the answer's own `date` header, so that a wrong clock on this machine has no
 * effect.
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
  const seconds = [readHeader(headers['retry-after'], headers['date'], receivedAt), ...named].filter(
    (value) => value !== undefined && !Number.isNaN(value),
  );
  if (seconds.length === 0) return undefined;
  const longest = Math.max(...seconds.map((value) => value ?? 0));
  return Math.min(Math.max(Math.ceil(longest), 0), longestSeconds);
}

function readHeader(
  value: string | string[] | undefined,
  date: string | string[] | undefined,
  receivedAt: number,
): number | undefined {
  if (typeof value !== 'string') return undefined;
  const text = value.trim();
  if (/^\d+(?:\.\d+)?$/.test(text)) return Number(text);
  if (!httpDate.test(text)) return undefined;
  const reference = typeof date === 'string' && httpDate.test(date) ? Date.parse(date) : receivedAt;
  return (Date.parse(text) - reference) / 1_000;
}
