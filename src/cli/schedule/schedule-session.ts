import type { Client } from '@temporalio/client';
import type { Config } from '../../config/settings.ts';
import { warnOfPlainText, warnWithoutWorker } from '../run/follow/follow-run.ts';
import { tell } from '../terminal/output.ts';
import { withSession, type Session } from '../session/session.ts';
import { readClock } from '../../db/expressions.ts';
import { isWorkerThere } from '../../temporal/connection.ts';

/** Help text of all commands that create schedules. */
export const whatRunsSchedules = `\
Temporal stores schedules, and workers (enrich worker) run them with their own settings.
Without TEMPORAL_ADDRESS the embedded server stores schedules, and they begin runs only while "enrich dev" or
"enrich run" is running with the same data folder.`;

/** Opens a session with Temporal and the warehouse, without the service. */
export function withSchedules(
  config: Config,
  use: (session: Session, client: Client) => Promise<void>,
): Promise<void> {
  return withSession(config, { temporal: true, service: false }, async (session) =>
    use(session, await session.temporal()),
  );
}

/** Warns if scheduled times have no worker, or have one only until a command ends. */
export async function tellWhatRunsSchedules(session: Session): Promise<void> {
  if (!session.stack.temporal.embedded) {
    await warnOfPlainText(session);
    await warnWithoutWorker(session);
    return;
  }
  // Such as the worker of enrich dev.
  if (await isWorkerThere(await session.temporal(), await readClock(session.warehouse.database))) return;
  tell(
    'without TEMPORAL_ADDRESS a schedule begins runs, and a triggered run works, only while enrich dev or enrich run ' +
      'is running with the same data folder: start enrich dev in another terminal',
  );
}
