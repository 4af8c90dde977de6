import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

/** True if another benchmark process started this process to measure one job. */
export const hasJob = process.send !== undefined;

/**
 * Creates a function that measures a job in a process of its own, so that its peak memory is separate. In the started
 * process, this function runs the job and sends the measurement.
 *
 * @param moduleUrl URL of the module that calls this function
 */
export function inOwnProcess<Job extends object, Measured extends object>(
  moduleUrl: string,
  measure: (job: Job) => Promise<Measured>,
): (job: Job) => Promise<Measured> {
  if (hasJob)
    process.once('message', (job) => {
      void measure(job as Job).then((measured) => process.send!(measured, () => process.exit(0)));
    });
  return async (job) => {
    const child = fork(fileURLToPath(moduleUrl), { stdio: 'inherit' });
    const ended = once(child, 'exit').then(([code]) => {
      throw new Error(`the measurement ended with code ${code}`);
    });
    child.send(job);
    const [measured] = (await Promise.race([once(child, 'message'), ended])) as [Measured];
    return measured;
  };
}

/** Returns the peak memory of this process in megabytes. */
export function peakMegabytes(): number {
  return process.resourceUsage().maxRSS / 1_024;
}
