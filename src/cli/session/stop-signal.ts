import { tell } from '../terminal/output.ts';

/** Waits until somebody stops the command, by Ctrl-C or SIGTERM. */
export function untilStopped(): Promise<void> {
  return new Promise((resolve) => onStop(resolve));
}

/** Aborted by Ctrl-C or SIGTERM, for work that can end between two batches; a second Ctrl-C ends the process. */
export function stopAfterBatch(): AbortSignal {
  const stopped = new AbortController();
  onStop(() => {
    tell('stopping after this batch');
    stopped.abort();
  });
  return stopped.signal;
}

function onStop(stop: () => void): void {
  process.once('SIGINT', stop);
  process.once('SIGTERM', stop);
}
