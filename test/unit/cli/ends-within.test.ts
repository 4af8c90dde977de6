import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { endsWithin } from '../../../src/cli/session/session.ts';

it('endsWithin() abandons work that does not end within its limit', async () => {
  await expect(endsWithin(new Promise(() => {}), 0.02)).rejects.toThrow('not ended after 0.02 s');
});

it('endsWithin() waits for work that ends, and fails as the work fails', async () => {
  await endsWithin(sleep(5), 10);
  await expect(endsWithin(Promise.reject(new Error('refused')), 10)).rejects.toThrow('refused');
});
