import { setTimeout as sleep } from 'node:timers/promises';
import type { Warehouse } from '../../db/database.ts';
import { skipPage } from './skip-page.ts';

const pollMilliseconds = 500;

/**
 * Skips a page: whoever is not being asked for at once, and whoever is left of the calls in flight when those have
 * ended.
 *
 * @throws the signal's reason
 */
export async function skipWhenLanded(
  warehouse: Warehouse,
  request: Parameters<typeof skipPage>[1],
  signal: AbortSignal,
): Promise<{ readonly people: number }> {
  for (;;) {
    const { people, inFlight } = await skipPage(warehouse, request);
    if (inFlight === 0) return { people };
    await sleep(pollMilliseconds, undefined, { signal });
  }
}
