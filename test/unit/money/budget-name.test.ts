import { expect, it } from 'vitest';
import { endOfPeriod, parseBudgetName } from '../../../src/domain/money/budget-periods.ts';

it.each([
  ['day', { kind: 'period', period: 'day', name: undefined }],
  ['month', { kind: 'period', period: 'month', name: undefined }],
  ['day:2026-11-21', { kind: 'period', period: 'day', name: '2026-11-21' }],
  ['month:2026-11', { kind: 'period', period: 'month', name: '2026-11' }],
  ['run:run-20261121-040312-a1b2c3', { kind: 'run', runId: 'run-20261121-040312-a1b2c3' }],
])('parseBudgetName() reads %s', (text, name) => expect(parseBudgetName(text)).toEqual(name));

it.each([
  '',
  'fortnight',
  'day:',
  'day:2026-02-30',
  'day:2026-11',
  'month:2026-13',
  'month:2026-11-21',
  'run:',
])('parseBudgetName() refuses "%s"', (text) => expect(parseBudgetName(text)).toBeUndefined());

it.each([
  ['day:2026-11-30', '2026-12-01T00:00:00.000Z'],
  ['month:2026-12', '2027-01-01T00:00:00.000Z'],
  ['run:run-1', undefined],
])('endOfPeriod() of the budget %s is %s', (budget, end) =>
  expect(endOfPeriod(budget)?.toISOString()).toBe(end),
);
