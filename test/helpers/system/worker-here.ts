import { withSession } from '../../../src/cli/session/session.ts';
import { readConfig } from '../../../src/config/settings.ts';

export interface WorkerHere {
  /** Drains the worker, as SIGTERM does. */
  stop(): Promise<void>;
}

/**
 * Starts a worker and the receiver of late results in this process, from the sources and with the workflows of dist. A
 * separate process takes three seconds of processor time to start.
 *
 * @param environment settings; Temporal must be the embedded one, or there is no receiver
 */
export function startWorkerHere(environment: Readonly<Record<string, string>>): Promise<WorkerHere> {
  // No log, because its lines would be among the output of a command that runs in this process.
  const config = readConfig({ ...environment, LOG_LEVEL: 'silent' });
  return new Promise((resolve, reject) => {
    const ended = withSession(config, { temporal: true, service: true }, async (session) => {
      await session.work();
      await new Promise<void>((stop) =>
        resolve({
          stop: () => {
            stop();
            return ended;
          },
        }),
      );
    });
    ended.catch(reject);
  });
}
