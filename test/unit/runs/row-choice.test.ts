import { expect, it } from 'vitest';
import {
  createRowTest,
  formatRowFilters,
  formatRowOrder,
  parseRowFilters,
  parseRowOrder,
  cellSortKey,
} from '../../../src/domain/runs/row-choice.ts';
import cases from '../../data/runs/row-choice.json' with { type: 'json' };

it.each(cases.only as [string, string, string[]][])('--only reads %s', (text, column, values) => {
  const filters = parseRowFilters([text]);
  expect(filters).toEqual([{ column, values }]);
  expect(parseRowFilters(formatRowFilters(filters))).toEqual(filters);
});

it('--only accepts a row with any listed value of a column, and combines several columns by "and"', () => {
  const fits = createRowTest(parseRowFilters(['Country=DE', 'Stage=lead', 'Country in AT,CH']));
  const row = (Country: string, Stage: string) =>
    fits((column) => ({ Country, Stage })[column] ?? 'no such column');
  expect([row('DE', 'lead'), row(' ch ', 'LEAD'), row('FR', 'lead'), row('DE', '')]).toEqual([
    true,
    true,
    false,
    false,
  ]);
});

it.each(['Stage', '=customer', ''])('--only refuses %j', (text) => {
  expect(() => parseRowFilters([text])).toThrow(/is not a column with a value/);
});

it.each([
  ['Score', { column: 'Score', descending: false }],
  ['Lead Score DESC', { column: 'Lead Score', descending: true }],
  ['"Sorted desc"', { column: 'Sorted desc', descending: false }],
])('--order-by reads %s', (text, order) => {
  expect(parseRowOrder(text)).toEqual(order);
  expect(parseRowOrder(formatRowOrder(order))).toEqual(order);
});

it('--order-by without a column is refused', () => {
  expect(() => parseRowOrder(' ')).toThrow(/no column is named/);
});

it.each(cases.numbers as [string, number | null][])(
  '--order-by sorts %j by the number %s',
  (cell, number) => {
    expect(cellSortKey(cell)).toEqual({ number, text: cell === '' ? null : cell });
  },
);
