import { readDatabaseClock } from '../../db/expressions.ts';
import { othersPresent } from '../../dev/presence.ts';
import { describeWorkerPoll, isTemporalUnreachable, readWorkerPoll } from '../../temporal/connection.ts';
import { printProgress } from '../terminal/output.ts';
import type { Session } from './session.ts';

const longestAnswerMilliseconds = 5_000;

/** Finds why runs cannot continue: no live worker, or no answer of Temporal. Undefined if they can, or if unclear. */
export async function findLostWorker(session: Pick<Session, 'config' | 'warehouse' | 'temporal'>) {
  const { config, warehouse, temporal } = session;
  if (config.temporalAddress === undefined) {
    const isPresent = othersPresent(config.embedded.directories.workers).length > 0;
    const next = 'without TEMPORAL_ADDRESS, runs and schedules need enrich dev or enrich run on this machine';
    return isPresent ? undefined : { reason: 'no command here has a worker', next, isTemporalAway: false };
  }
  try {
    const poll = await withAnswerDeadline(session, async () =>
      readWorkerPoll(await temporal(), await readDatabaseClock(warehouse.database)),
    );
    if (!poll.isLost) return undefined;
    return { reason: describeWorkerPoll(poll), next: 'start a worker: enrich worker', isTemporalAway: false };
  } catch (error) {
    if (!isTemporalUnreachable(error)) return undefined;
    const next =
      'check TEMPORAL_ADDRESS and that the server is running there; workers and commands wait for it';
    return { reason: 'Temporal does not answer', next, isTemporalAway: true };
  }
}

/** Prints a warning if no worker is live, because a command would then wait for one. */
export async function warnAboutWorkers(session: Session): Promise<void> {
  const lost = await findLostWorker(session);
  if (lost !== undefined) printProgress(`${session.stack.temporal.address}: ${lost.reason}; ${lost.next}`);
}

/** Limits the wait for Temporal. Without a deadline, a server that does not answer would block Ctrl-C. */
export async function withAnswerDeadline<Result>(
  session: Pick<Session, 'temporal'>,
  call: () => Promise<Result>,
): Promise<Result> {
  return (await session.temporal()).withDeadline(Date.now() + longestAnswerMilliseconds, call);
}
