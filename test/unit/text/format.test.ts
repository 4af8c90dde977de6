import { expect, it } from 'vitest';
import {
  counted,
  countedPeople,
  formatNumber,
  formatPercent,
  isDate,
  longest,
  parseMoment,
  shellWord,
} from '../../../src/domain/text/format.ts';
import cases from '../../data/text/moment.json' with { type: 'json' };

it.each([
  [counted(1, 'call'), '1 call'],
  [counted(1_200, 'call'), '1,200 calls'],
  [counted(2, 'delivery', 'deliveries'), '2 deliveries'],
  [counted('1.5', 'credit'), '1.5 credits'],
  [countedPeople(1), '1 person'],
  [countedPeople(12), '12 people'],
  [formatNumber(999), '999'],
  [formatNumber('12345.123456'), '12,345.123456'],
  [formatPercent(1, 3), '33.3 %'],
  [formatPercent(7, 7), '100.0 %'],
  [formatPercent(0, 0), '–'],
  [shellWord('/exports/contacts.csv'), '/exports/contacts.csv'],
  [shellWord("o'hara.csv"), "'o'\\''hara.csv'"],
])('a number, share or word is shown as %s', (text, expected) => expect(text).toBe(expected));

it('longest() measures more texts than a function takes arguments', () => {
  expect(longest([...Array<string>(300_000).fill('ab'), 'abc'])).toBe(3);
});

it.each([
  ['2026-11-21T02:00:00.250+01:00', '2026-11-21T01:00:00.250Z'],
  ['2026-11-21T02:00-0500', '2026-11-21T07:00:00.000Z'],
  ['2026-11-21 02:00:00z', '2026-11-21T02:00:00.000Z'],
])('parseMoment() reads %s', (text, moment) => expect(parseMoment(text)?.toISOString()).toBe(moment));

it.each(cases.noMoments)('parseMoment() refuses "%s": a time without a zone differs by machine', (text) =>
  expect(parseMoment(text)).toBeUndefined(),
);

it.each(cases.dates as [string, boolean][])('isDate() says of %s: %s', (text, is) =>
  expect(isDate(text)).toBe(is),
);
