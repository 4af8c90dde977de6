import { expect, it } from 'vitest';
import { formatElapsed, parseDuration } from '../../../src/domain/text/duration.ts';

it.each([
  [0, '0s'],
  [59, '59s'],
  [59.6, '1m 0s'],
  [3_600, '1h 0m'],
  [90_061, '1d 1h'],
])('formatElapsed(%d) has at most two units: %s', (seconds, text) => {
  expect(formatElapsed(seconds)).toBe(text);
});

it('parseDuration() reads up to a hundred years, and names the longest duration', () => {
  expect(parseDuration('36500d', 'FRESHNESS')).toBe(36_500 * 86_400);
  for (const text of ['36501d', '999999999w'])
    expect(() => parseDuration(text, 'FRESHNESS')).toThrow(`"${text}" is longer than a hundred years`);
});
