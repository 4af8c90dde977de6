import type { Worker } from '@temporalio/worker';

export type WorkerToRun = Pick<Worker, 'run' | 'getState'>;

const lookMilliseconds = 5_000;

/** Runs workers until all have ended. If one of them fails, the others drain, so that calls in flight are recorded. */
export async function runWorkers(workers: readonly WorkerToRun[], drain: () => void): Promise<void> {
  const runs = await Promise.allSettled(workers.map((worker) => runWorker(worker).finally(drain)));
  const failure = runs.find((each) => each.status === 'rejected');
  if (failure) throw failure.reason;
}

/**
 * `run()` of the SDK does not end after an error of a poll, such as a deleted namespace: it waits for the native worker
 * to end a shutdown that nothing has begun. Only the state of the worker tells.
 */
async function runWorker(worker: WorkerToRun): Promise<void> {
  let look: NodeJS.Timeout | undefined;
  const failed = new Promise<never>((_, reject) => {
    let hadFailed = false;
    look = setInterval(() => {
      const hasFailed = worker.getState() === 'FAILED';
      // After other errors, run() ends soon with the error.
      if (hasFailed && hadFailed) reject(new Error('it can poll Temporal no longer; its log has the error'));
      hadFailed = hasFailed;
    }, lookMilliseconds);
  });
  try {
    await Promise.race([worker.run(), failed]);
  } finally {
    clearInterval(look);
  }
}
