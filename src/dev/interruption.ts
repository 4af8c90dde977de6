import { readFileSync } from 'node:fs';

const exitCodes = { SIGHUP: 129, SIGINT: 130, SIGTERM: 143 } as const;
type EndingSignal = keyof typeof exitCodes;

/** @param repeated an earlier signal has asked the process to end */
type Handler = (signal: EndingSignal, exitCode: number, repeated: boolean) => void;

interface Listener {
  readonly handle: Handler;
  repeated: boolean;
}

const listeners: Listener[] = [];
let isListening = false;
let wasSignalled = false;

/** @returns a function that removes every handler that was added since: handlers of a command end with it */
export function beginCommand(): () => void {
  const before = listeners.length;
  return () => void listeners.splice(before);
}

/** As `onInterruption`, but a second signal ends the process at once. */
export function onFirstInterruption(stop: (exitCode: number) => void): () => void {
  return onInterruption((_signal, exitCode, repeated) =>
    repeated ? process.exit(exitCode) : stop(exitCode),
  );
}

/** Only the newest handler of a signal is called: the part of a command that began last must end first. */
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

/**
 * Treats the end of npx or npm as SIGTERM: npm passes a signal only to the shell in between, which ends. After SIGKILL
 * of npm, the shell gets another parent. The end of the shell must not count as a second signal of the process group.
 */
export function endWithNpm(environment: NodeJS.ProcessEnv): void {
  if (environment['npm_command'] === undefined && environment['npm_lifecycle_event'] === undefined) return;
  const { ppid: parent } = process;
  const grandparent = parentOf(parent);
  const timer = setInterval(() => {
    const present = parentOf(parent) ?? grandparent;
    if (process.ppid === parent && (grandparent === undefined || present === grandparent)) return;
    clearInterval(timer);
    if (!wasSignalled) process.emit('SIGTERM', 'SIGTERM');
  }, parentCheckMilliseconds);
  timer.unref();
}

/** The parent of a process on Linux; undefined if unknown, even if the process cannot be read only for a moment. */
function parentOf(processId: number): string | undefined {
  try {
    return /\) \S+ (\d+) /.exec(readFileSync(`/proc/${processId}/stat`, 'utf8'))?.[1];
  } catch {
    return undefined;
  }
}
