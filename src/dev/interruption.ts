/** Signals that ask a process to end, and its exit code where it does. */
const exitCodes = { SIGHUP: 129, SIGINT: 130, SIGTERM: 143 } as const;

/** @param repeated it was told to end before */
type Handler = (signal: string, exitCode: number, repeated: boolean) => void;

interface Listener {
  readonly handle: Handler;
  repeated: boolean;
}

const listeners: Listener[] = [];
let isListening = false;

/** @returns removes every handler that was added since: those of a command end with it */
export function beginCommand(): () => void {
  const before = listeners.length;
  return () => void listeners.splice(before);
}

/** As `onInterruption`; a second signal ends the process at once. */
export function onFirstInterruption(stop: (exitCode: number) => void): () => void {
  return onInterruption((_signal, exitCode, repeated) =>
    repeated ? process.exit(exitCode) : stop(exitCode),
  );
}

/**
 * Decides what a signal that asks this process to end does. The newest handler alone is told: who began last knows what
 * has to end first, and gives back what the others keep.
 *
 * @returns leaves the decision to the handler before
 */
export function onInterruption(handle: Handler): () => void {
  if (!isListening) {
    isListening = true;
    for (const [signal, exitCode] of Object.entries(exitCodes)) {
      process.on(signal, () => {
        const newest = listeners.at(-1);
        if (!newest) process.exit(exitCode);
        const { repeated } = newest;
        newest.repeated = true;
        newest.handle(signal, exitCode, repeated);
      });
    }
  }
  const listener = { handle, repeated: false };
  listeners.push(listener);
  return () => {
    const at = listeners.indexOf(listener);
    if (at !== -1) listeners.splice(at, 1);
  };
}
