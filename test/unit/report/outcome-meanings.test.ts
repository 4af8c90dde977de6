import { expect, it } from 'vitest';
import { outcomeFacts } from '../../../src/domain/runs/outcome.ts';

it('the meaning of cancelled names everything that cancels a row', () => {
  const { meaning } = outcomeFacts.cancelled;
  for (const cause of ['run was cancelled', 'page was skipped', '--only']) expect(meaning).toContain(cause);
});
