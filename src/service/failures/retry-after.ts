import type { Headers } from '../transport.ts';

/** The longest window of the service is a day; whatever asks for more is a fault of the asking side. */
const longestSeconds = 86_400;

const httpDate = /^[a-z]{3}, \d{2} [a-z]{3} \d{4} \d{2}:\d{2}:\d{2} GMT$/i;

/**
 * How long the service asks to wait: the longest of the `retry-after` header and of what the body names.
 *
 * A date is counted from the answer's own `date`, so that a wrong clock on this machine changes nothing.
 *
 * @param receivedAt milliseconds since 1970, for answers without a date
 * @returns whole seconds from 0 to a day; undefined where the service says nothing usable
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
