import { setTimeout as sleep } from 'node:timers/promises';
import { canSucceedLater } from '../db/postgres-errors.ts';

/** How long a process keeps a paid answer in memory while the database is away. */
const recordingPatienceMilliseconds = 10 * 60_000;

/**
 * Repeats work that must not be lost while the database is away. The work must recognise an earlier try by its ids,
 * because the reply to a COMMIT can be lost.
 */
export async function untilDatabaseIsBack<Result>(
  work: () => Promise<Result>,
  patienceMilliseconds = recordingPatienceMilliseconds,
): Promise<Result> {
  const giveUpAt = performance.now() + patienceMilliseconds;
  for (;;) {
    try {
      return await work();
    } catch (error) {
      if (!canSucceedLater(error) || performance.now() > giveUpAt) throw error;
      await sleep(500);
    }
  }
}
