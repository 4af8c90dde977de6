import { formatRateLimits } from '../../domain/rates/rate-limit.ts';
import { tableOfNumbers, type Section } from '../document-types.ts';
import type { RunReport } from '../report-types.ts';
import { counted } from '../../domain/text/counted.ts';
import { formatNumber } from '../../domain/text/format-number.ts';
import { formatPercent } from '../../domain/text/format-percent.ts';
import { secondOf } from '../../domain/text/minute-of.ts';

export function callsSection({ calls }: RunReport): Section {
  const { by_status: statuses, first_at: first, last_at: last, windows } = calls;
  return {
    id: 'calls',
    title: 'Calls against the limit',
    lead:
      first === null || last === null
        ? 'No call was made.'
        : `${counted(countSentCalls(statuses), 'call')} from ${secondOf(first)} to ${secondOf(last)}. ` +
          'All runs at one service share its limits. The charts show the current limits.',
    tables: [
      tableOfNumbers(
        'Maximum calls in a trailing window, of all runs',
        ['Limit', 'Maximum', 'Share of the limit'],
        windows.map(({ limit, seconds, peak }) => [
          formatRateLimits([{ calls: limit, seconds }]),
          formatNumber(peak),
          formatPercent(peak, limit),
        ]),
      ),
      tableOfNumbers(
        'Calls by status',
        ['Status', 'Calls'],
        Object.entries(statuses).map(([status, number]) => [
          status === 'released' ? 'released, never sent' : status,
          formatNumber(number),
        ]),
      ),
    ],
  };
}

/** Calls that may have reached the service. */
export function countSentCalls(statuses: Readonly<Record<string, number>>): number {
  return Object.entries(statuses).reduce(
    (sum, [status, calls]) => sum + (status === 'released' ? 0 : calls),
    0,
  );
}
