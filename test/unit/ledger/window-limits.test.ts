import { expect, it } from 'vitest';
import { parseRateLimits } from '../../../src/domain/rates/rate-limit.ts';
import { parseWindowLimits } from '../../../src/sandbox/rate-windows.ts';

/** Sandbox and pipeline share no code, on purpose. The embedded sandbox gets the limits of the pipeline. */
it.each(['600/hour', '20/10s, 100/5m', '1/second,60/minute', '9/2h', '600/hour,5000/day', 'Unlimited'])(
  'the sandbox and the pipeline read the rate limits %s the same way',
  (text) => {
    expect(parseWindowLimits(text)).toEqual(parseRateLimits(text));
  },
);

it.each([
  '',
  '0/hour',
  '20',
  '20/q',
  '20/0s',
  '20/-1s',
  '20/5 m',
  '1.5/hour',
  'many',
  '1/constructor',
  '1/__proto__',
  '1000/25h',
  '1000/1w',
])('the sandbox and the pipeline both refuse the rate limits %j', (text) => {
  expect(() => parseWindowLimits(text)).toThrow(RangeError);
  expect(() => parseRateLimits(text)).toThrow();
});

it('parseRateLimits() refuses a rate window of more than a day', () => {
  expect(parseRateLimits('1000/24h')).toEqual([{ calls: 1_000, seconds: 86_400 }]);
  expect(() => parseRateLimits('1000/25h')).toThrow('longer than a day');
});
