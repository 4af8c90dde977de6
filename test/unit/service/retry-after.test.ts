import { expect, it } from 'vitest';
import { readRetryAfter } from '../../../src/service/failures/map-failure.ts';

const receivedAt = Date.UTC(2026, 10, 21, 12, 0, 0);
const minuteLater = 'Sat, 21 Nov 2026 12:01:00 GMT';
const read = (value: string | string[], date?: string) =>
  readRetryAfter({ 'retry-after': value, ...(date !== undefined && { date }) }, [], receivedAt);

it.each([
  ['seconds', '30', 30],
  ['zero', '0', 0],
  ['a fraction, rounded up', '1.2', 2],
  ['a huge value, cut to a day', '99999999999999999999', 86_400],
  ['a date', minuteLater, 60],
  ['a repeated value', ['30', '30'], 30],
  ['two values', ['30', '40'], undefined],
  ['a date in the past', 'Sat, 21 Nov 2026 11:00:00 GMT', 0],
  ['a negative number', '-5', undefined],
  ['a word', 'soon', undefined],
  ['nothing', '', undefined],
])('readRetryAfter() reads %s', (_, value, expected) => {
  expect(read(value)).toBe(expected);
});

it('readRetryAfter() measures a date from the Date header, whatever the local clock says', () => {
  expect(read(minuteLater, 'Sat, 21 Nov 2026 12:00:30 GMT')).toBe(30);
});

it('readRetryAfter() returns the longer time of header and body', () => {
  expect(readRetryAfter({ 'retry-after': '5' }, [undefined, 40, 20], receivedAt)).toBe(40);
});

it('readRetryAfter() returns nothing without a header and a body', () => {
  expect(readRetryAfter({}, [undefined], receivedAt)).toBeUndefined();
});
