import { expect, it } from 'vitest';
import { formatElapsed } from '../../../src/domain/text/duration.ts';

it.each([
  [0, '0s'],
  [59, '59s'],
  [59.6, '1m 0s'],
  [3_600, '1h 0m'],
  [90_061, '1d 1h'],
])('formatElapsed(%d) has at most two units: %s', (seconds, text) => {
  expect(formatElapsed(seconds)).toBe(text);
});
