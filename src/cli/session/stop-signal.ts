import { onFirstInterruption } from '../../dev/interruption.ts';
import { tell } from '../terminal/output.ts';

/** Waits until a person stops the command, by Ctrl-C or SIGTERM; a second signal ends the process. */
export function untilStopped(): Promise<void> {
  return new Promise((resolve) => onFirstInterruption(() => resolve()));
}

/** Aborted by Ctrl-C or SIGTERM, for work that can end between two batches; a second signal ends the process. */
export function stopAfterBatch(): AbortSignal {
  const stopped = new AbortController();
  onFirstInterruption(() => {
    tell('\nstopping after this batch; a second Ctrl-C stops at once, and finished batches stay');
    stopped.abort();
  });
  return stopped.signal;
}
