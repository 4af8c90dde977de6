import { setTimeout as sleep } from 'node:timers/promises';
import type { Warehouse } from '../../db/database.ts';
import { skipPage } from './skip-page.ts';

const pollMilliseconds = 500;

/**
 * Skips a page: at once the people who have no call in flight, and after these calls the people who still have no
 * outcome.
 *
 * @throws the signal's reason
 */
export async function skipPageAfterCalls(
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
