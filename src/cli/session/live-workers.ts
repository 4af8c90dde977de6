import type { Config } from '../../config/settings.ts';
import { readClock } from '../../db/expressions.ts';
import { othersPresent } from '../../dev/presence.ts';
import {
  describeWorkerPoll,
  isTemporalAway,
  readWorkerPoll,
  type WorkerPoll,
} from '../../temporal/connection.ts';
import { tell } from '../terminal/output.ts';
import type { Session } from './session.ts';

const longestAnswerMilliseconds = 5_000;

/** The parts of a session that are asked about workers. */
type Asked = Pick<Session, 'config' | 'stack' | 'warehouse' | 'temporal'>;

/** Whether a command on this machine has a worker for the embedded Temporal. */
function isCommandPresent({ embedded }: Config): boolean {
  return othersPresent(embedded.directories.workers).length > 0;
}

/** Whether a run has a worker, so that it continues without a command. After a kill, true for up to 75 seconds. */
export async function hasWorker(session: Asked): Promise<boolean> {
  if (session.config.temporalAddress === undefined) return isCommandPresent(session.config);
  return !(await readPoll(session)).isLost;
}

/** @returns a hint if a Temporal server does not answer or no worker polls it; undefined: a worker polls */
export async function findLostWorker(session: Asked): Promise<string | undefined> {
  if (session.stack.temporal.embedded) return undefined;
  try {
    const poll = await withAnswerDeadline(session, () => readPoll(session));
    return poll.isLost ? `${describeWorkerPoll(poll)}: start one with: enrich worker` : undefined;
  } catch (error) {
    // Temporal may refuse the question, and the database may not answer: both are found out by what follows.
    return isTemporalAway(error)
      ? 'Temporal does not answer: workers and this command wait for it'
      : undefined;
  }
}

/** Warns if no worker polls a Temporal server. Embedded Temporal has the worker of this command. */
export async function warnOfWorkers(session: Asked): Promise<void> {
  const lost = await findLostWorker(session);
  if (lost !== undefined) tell(`${session.stack.temporal.address}: ${lost}`);
}

async function readPoll({ temporal, warehouse }: Asked): Promise<WorkerPoll> {
  return readWorkerPoll(await temporal(), await readClock(warehouse.database));
}

/** Without a deadline, a call to a server that does not answer would keep a signal from ending the wait. */
export async function withAnswerDeadline<Result>(
  session: Pick<Session, 'temporal'>,
  call: () => Promise<Result>,
): Promise<Result> {
  return (await session.temporal()).withDeadline(Date.now() + longestAnswerMilliseconds, call);
}
