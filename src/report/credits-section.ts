import type { Section, Table } from './document.ts';
import type { RunReport, Waste } from './report.ts';
import { count, credits, fieldName, price } from './wording.ts';

/** What the run cost, by kind, by usable field, and what of it bought nothing. */
export function creditsSection({ credits: money, waste, costs }: RunReport): Section {
  const { settled, held, planned, budgets } = money;
  const amount = { title: 'Credits', numeric: true } as const;
  const kinds: [string, string][] = [
    ['records, billed with the answers', settled.records],
    ['phones, billed with late results', settled.phones],
    ['waterfalls, billed with late results', settled.waterfall],
    ['accepted by your decision, without a bill', settled.decided],
    ['settled', settled.total],
    ['held for calls in flight', held.in_flight],
    ['held for late results', held.awaiting],
    ['held, cost unknown', held.unknown],
  ];
  const tables: Table[] = [
    {
      caption: 'Credits by kind',
      columns: [{ title: 'Kind' }, amount],
      rows: kinds
        .filter(([kind, value]) => value !== '0' || kind === 'settled')
        .map(([kind, value]) => [kind, credits(value)]),
    },
    {
      caption: 'Cost per usable field of the enriched rows',
      columns: [
        { title: 'Field' },
        { title: 'Count', numeric: true },
        amount,
        { title: 'Each', numeric: true },
      ],
      rows: costs.map(({ field, count: number, credits: value, each }) => [
        fieldName(field),
        count(number),
        credits(value),
        each === null ? '–' : price(each),
      ]),
    },
    {
      caption: 'Credits that bought nothing',
      columns: [{ title: 'Where' }, { title: 'Count', numeric: true }, amount],
      rows:
        waste.length === 0
          ? [['none', '0', '0']]
          : waste.map(({ kind, count: number, credits: value }) => [
              wasteOf[kind],
              count(number),
              credits(value),
            ]),
    },
  ];
  if (budgets.length > 0)
    tables.push({
      caption: 'Budgets of the calls, with all their runs',
      columns: [
        { title: 'Budget' },
        { title: 'Limit', numeric: true },
        { title: 'Settled', numeric: true },
        { title: 'Reserved', numeric: true },
      ],
      rows: budgets.map(({ budget, limit, settled: spent, reserved }) => [
        budget,
        limit === null ? 'none' : credits(limit),
        credits(spent),
        credits(reserved),
      ]),
    });
  return {
    id: 'credits',
    title: 'Credits',
    lead:
      planned === null
        ? 'The run was not planned.'
        : `The plan said at least ${credits(planned.minimum)}, about ${price(planned.expected)}, at most ${credits(planned.worst_case)}. A person’s part of a call is an even share of what its answer cost.${held.total === '0' ? '' : ' Prices are not final while credits are held.'}`,
    tables,
  };
}

const wasteOf: Readonly<Record<Waste['kind'], string>> = {
  no_contact: 'people who came back and were written to no contact',
  answered_again: 'people who came back again: rows of one person',
  no_answer: 'people of calls that were accepted as billed, without an answer',
  orphaned_delivery: 'late results about people who were not asked for',
};
