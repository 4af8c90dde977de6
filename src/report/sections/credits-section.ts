import { deliveryKindNames, deliveryKinds } from '../../domain/late-results/delivery-kinds.ts';
import { describeInRange } from '../../domain/money/credit-rules.ts';
import { tableOfNumbers, type Section } from '../document-types.ts';
import type { RunReport, Waste } from '../report-types.ts';
import { formatNumber } from '../../domain/text/format-number.ts';
import { formatLimit } from '../../domain/money/format-limit.ts';
import { formatPrice } from '../../domain/money/format-price.ts';
import { fieldName } from '../wording.ts';

export function creditsSection({ run, credits: money, outcomes, waste, costs }: RunReport): Section {
  const { settled, held, planned, budgets } = money;
  const isFinal = run.status === 'finished' && held.total === '0' && (outcomes.over_budget ?? 0) === 0;
  const kinds: [string, string][] = [
    ['records, billed with the answers', settled.records],
    ...deliveryKindNames.map((kind): [string, string] => [
      `${deliveryKinds[kind].creditsName}, billed with late results`,
      settled[kind],
    ]),
    ['accepted by an operator, without a bill', settled.decided],
    ['settled', settled.total],
    ['held for calls in flight', held.in_flight],
    ['held for late results', held.awaiting],
    ['held, cost unknown', held.unknown],
  ];
  const tables = [
    tableOfNumbers(
      'Credits by kind',
      ['Kind', 'Credits'],
      kinds
        .filter(([kind, value]) => value !== '0' || kind === 'settled')
        .map(([kind, value]) => [kind, formatNumber(value)]),
    ),
    tableOfNumbers(
      'Cost per usable field of the enriched rows',
      ['Field', 'Count', 'Credits', 'Each'],
      costs.length === 0
        ? [['not known: retention has removed the rows', '–', '–', '–']]
        : costs.map(({ field, count: number, credits: value, each }) => [
            fieldName(field),
            formatNumber(number),
            formatNumber(value),
            each === null ? '–' : formatPrice(each),
          ]),
    ),
    tableOfNumbers(
      'Credits without a result',
      ['Where', 'Count', 'Credits'],
      waste.length === 0
        ? [['none', '0', '0']]
        : waste.map(({ kind, count: number, credits: value }) => [
            wasteOf[kind],
            formatNumber(number),
            formatNumber(value),
          ]),
    ),
    tableOfNumbers(
      'Budgets of the calls, with all their runs',
      ['Budget', 'Limit', 'Settled', 'Reserved'],
      budgets.map(({ budget, limit, settled: spent, reserved }) => [
        budget,
        formatLimit(limit, 'none'),
        formatNumber(spent),
        formatNumber(reserved),
      ]),
    ),
  ];
  return {
    id: 'credits',
    title: 'Credits',
    lead:
      planned === null
        ? 'The run was not planned.'
        : `The plan: at least ${formatNumber(planned.minimum)}, expected ${formatNumber(planned.expected)} ` +
          `(${formatNumber(planned.low)} to ${formatNumber(planned.high)}), ` +
          `at most ${formatNumber(planned.worst_case)}. ` +
          (isFinal ? `The settled credits are ${describeInRange(settled.total, planned)}. ` : '') +
          `The cost of a call is divided equally among its people.` +
          (held.total === '0' ? '' : ' Prices are not final while credits are held.'),
    tables,
  };
}

const wasteOf: Readonly<Record<Waste['kind'], string>> = {
  no_contact: 'returned people who matched no contact',
  answered_again: 'people returned more than once: rows of one person',
  no_answer: 'people of calls without an answer that an operator accepted as billed',
  orphaned_delivery: 'late results for no person of a recorded answer',
};
