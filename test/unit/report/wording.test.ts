import { expect, it } from 'vitest';
import { outcomeFacts } from '../../../src/domain/runs/outcome.ts';
import { price } from '../../../src/report/wording.ts';

it.each([
  ['1.8405', '1.84'],
  ['1.845', '1.85'],
  ['8', '8.00'],
  ['1234.5', '1,234.50'],
  ['0.000004', '0.000004'],
  ['0', '0.00'],
])('price(%s) rounds to hundredths and never to 0: %s', (exact, text) => {
  expect(price(exact)).toBe(text);
});

it('the meaning of cancelled names everything that cancels a row', () => {
  const { meaning } = outcomeFacts.cancelled;
  for (const cause of ['run was cancelled', 'page was skipped', '--only']) expect(meaning).toContain(cause);
});
