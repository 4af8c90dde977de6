import { readFileSync } from 'node:fs';

/** 128 plus the number of the signal, as shells report it. */
const exitCodes = { SIGHUP: 129, SIGINT: 130, SIGTERM: 143 } as const;
type EndingSignal = keyof typeof exitCodes;

/** @param repeated true if an earlier signal has told the process to end */
type Handler = (signal: EndingSignal, exitCode: number, repeated: boolean) => void;

const listeners: { readonly handle: Handler; repeated: boolean }[] = [];
let isListening = false;
let wasSignalled = false;

/** Marks the start of a command. @returns a function that removes all handlers that the command has added since */
export function scopeSignalHandlers(): () => void {
  const before = listeners.length;
  return () => void listeners.splice(before);
}

/** Adds a signal handler; a second signal ends the process at once. @returns a function that removes the handler */
export function onFirstInterruption(stop: (exitCode: number) => void): () => void {
  return onInterruption((_signal, exitCode, repeated) =>
    repeated ? process.exit(exitCode) : stop(exitCode),
  );
}

/**
 * Adds a signal handler. A signal calls only the newest: what a command started last ends first.
 *
 * @returns its removal
 */
export function onInterruption(handle: Handler): () => void {
  if (!isListening) {
    isListening = true;
    for (const signal of Object.keys(exitCodes) as EndingSignal[]) {
      const exitCode = exitCodes[signal];
      process.on(signal, () => {
        wasSignalled = true;
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

const parentCheckMilliseconds = 500;

/** Emits SIGTERM when npx or npm ends: npm passes a signal only to its shell, and a killed npm passes none. */
export function stopWhenNpmEnds(environment: NodeJS.ProcessEnv): void {
  if (environment['npm_command'] === undefined && environment['npm_lifecycle_event'] === undefined) return;
  const { ppid: parent } = process;
  const grandparent = parentOf(parent);
  const timer = setInterval(() => {
    const present = parentOf(parent) ?? grandparent;
    if (process.ppid === parent && (grandparent === undefined || present === grandparent)) return;
    clearInterval(timer);
    // After another signal, the end of the shell must not count as a second signal.
    if (!wasSignalled) process.emit('SIGTERM', 'SIGTERM');
  }, parentCheckMilliseconds);
  timer.unref();
}

/** Reads the parent of a process on Linux. Undefined if the process cannot be read, perhaps only for a moment. */
function parentOf(processId: number): string | undefined {
  try {
    return /\) \S+ (\d+) /.exec(readFileSync(`/proc/${processId}/stat`, 'utf8'))?.[1];
  } catch {
    return undefined;
  }
}
