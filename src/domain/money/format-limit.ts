import { formatNumber } from '../text/format-number.ts';

/**
 * A budget's limit for people, grouped: `1,480`.
 *
 * @param limit credits as text; null: none is set
 * @param none what to show for null
 */
export function formatLimit(limit: string | null, none = 'no limit'): string {
  return limit === null ? none : formatNumber(limit);
}
