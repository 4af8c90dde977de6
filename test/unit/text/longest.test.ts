import { expect, it } from 'vitest';
import { longest } from '../../../src/domain/text/format.ts';

it('longest() measures more texts than a function takes arguments', () => {
  expect(longest([...Array<string>(300_000).fill('ab'), 'abc'])).toBe(3);
  expect(longest([])).toBe(0);
});
