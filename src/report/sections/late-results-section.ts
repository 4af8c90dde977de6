import { tableOfNumbers, type Section } from '../document-types.ts';
import type { RunReport } from '../report-types.ts';
import { counted } from '../../domain/text/counted.ts';
import { formatElapsed } from '../../domain/text/duration.ts';
import { formatNumber } from '../../domain/text/format-number.ts';

export function lateResultsSection({ calls, late_results: late }: RunReport): Section {
  const figures: [string, number][] = [
    ['calls that wait for late results', late.awaited],
    ['calls whose late results did not arrive in time', late.expired],
    ['deliveries with effect', late.arrived],
    ['– fetched by a poll', late.polled],
    ['– after the end of the run', late.late],
    ['repeated deliveries', late.duplicate],
    ['deliveries for no person of a recorded answer', late.orphaned],
    ['unreadable deliveries', late.quarantined],
    ['deliveries not applied yet', late.waiting],
  ];
  const took =
    late.median_seconds === null || late.longest_seconds === null
      ? ''
      : ` Half of them arrived within ${formatElapsed(late.median_seconds)} of the answer, ` +
        `the last after ${formatElapsed(late.longest_seconds)}.`;
  const overdue = (calls.by_status['awaiting'] ?? 0) - late.awaited;
  const missing =
    overdue > 0
      ? ` ${counted(overdue, 'call')} got no late results before the deadline. Workers apply them when they come; ` +
        'until then their credits stay held. To ask the service now: enrich inbox sweep.'
      : '';
  const none = figures.every(([, number]) => number === 0);
  return {
    id: 'late-results',
    title: 'Late results',
    lead: none
      ? 'The run has no late results.'
      : `Phones and waterfall results arrive after the answer, by webhook or by poll.${took}${missing}`,
    tables: [
      tableOfNumbers(
        'Late results',
        ['Kind', 'Count'],
        none ? [] : figures.map(([what, number]) => [what, formatNumber(number)]),
      ),
    ],
  };
}
