import { formatNumber } from '../text/format-number.ts';

/**
 * Formats a budget's limit for a person, with grouped digits: `1,480`.
 *
 * @param limit credits as text; null: no limit
 * @param none text for null
 */
export function formatLimit(limit: string | null, none = 'no limit'): string {
  return limit === null ? none : formatNumber(limit);
}
