import { execFileSync, spawn } from 'node:child_process';
import { closeSync, existsSync, openSync, readFileSync, readdirSync, renameSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';

/** A process, identified by its id and its start: the operating system reuses ids. */
export interface ProcessIdentity {
  readonly pid: number;
  /** The start time in the system's own format, only for comparisons. */
  readonly start: string;
}

/** A server that this process started and that continues after it. */
export interface DetachedProcess extends ProcessIdentity {
  /** How the process ended; undefined: it runs. */
  ended(): string | undefined;
}

export function ownIdentity(): ProcessIdentity {
  return identityOf(process.pid) ?? { pid: process.pid, start: '0' };
}

/** The process that has this id now; undefined: no process, or one that has ended and is not reaped yet. */
export function identityOf(pid: number): ProcessIdentity | undefined {
  const start = existsSync('/proc/self/stat') ? startFromProc(pid) : startFromPs(pid);
  return start === undefined ? undefined : { pid, start };
}

export function isRunning(process: ProcessIdentity): boolean {
  return identityOf(process.pid)?.start === process.start;
}

/** The command line of a process, arguments joined by spaces; empty: there is none. */
export function commandLineOf(pid: number): string {
  try {
    if (existsSync('/proc/self/stat'))
      return readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ');
    return execFileSync('ps', ['-ww', '-o', 'args=', '-p', String(pid)], { encoding: 'utf8', stdio: 'pipe' });
  } catch {
    return '';
  }
}

/**
 * Starts a server in a session of its own, so that neither the end of this process nor Ctrl-C in its terminal ends the
 * server. Its output goes to a file, because a pipe would end with this process. The log of the previous start is kept
 * beside the file.
 */
export function spawnDetached(options: {
  command: string;
  arguments: readonly string[];
  environment: NodeJS.ProcessEnv;
  directory: string;
  logFile: string;
}): DetachedProcess {
  if (existsSync(options.logFile)) renameSync(options.logFile, `${options.logFile}.previous`);
  const log = openSync(options.logFile, 'a', 0o600);
  try {
    const child = spawn(options.command, options.arguments, {
      cwd: options.directory,
      env: options.environment,
      detached: true,
      stdio: ['ignore', log, log],
    });
    let ending: string | undefined;
    child.once('error', (error) => (ending = error.message));
    child.once(
      'exit',
      (code, signal) => (ending = signal === null ? `exit code ${code}` : `signal ${signal}`),
    );
    child.unref();
    const identity = child.pid === undefined ? undefined : identityOf(child.pid);
    return { pid: child.pid ?? 0, start: identity?.start ?? 'never', ended: () => ending };
  } finally {
    closeSync(log);
  }
}

/**
 * Sends signals to a process, and waits after each, until the process has ended.
 *
 * @param steps the signals, each with the seconds to wait
 * @returns whether the process has ended
 */
export async function stopProcess(
  target: ProcessIdentity,
  steps: readonly (readonly [signal: NodeJS.Signals, seconds: number])[],
): Promise<boolean> {
  for (const [signal, seconds] of steps) {
    if (!isRunning(target)) return true;
    try {
      process.kill(target.pid, signal);
    } catch {
      return !isRunning(target);
    }
    const deadline = performance.now() + seconds * 1000;
    while (isRunning(target) && performance.now() < deadline) await sleep(20);
  }
  return !isRunning(target);
}

function startFromProc(pid: number): string | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    // The second field is the name in parentheses. The name can contain anything, so the fields are counted after its
    // closing parenthesis.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    // A dead process that waits to be reaped is gone; but its first thread may be dead while others still hold its
    // ports.
    return fields[0] === 'Z' && readdirSync(`/proc/${pid}/task`).length === 1 ? undefined : fields[19];
  } catch {
    return undefined;
  }
}

function startFromPs(pid: number): string | undefined {
  try {
    const line = execFileSync('ps', ['-o', 'stat=,lstart=', '-p', String(pid)], {
      encoding: 'utf8',
      env: { ...process.env, LC_ALL: 'C' },
      stdio: 'pipe',
    }).trim();
    const [state = 'Z', ...start] = line.split(/\s+/);
    return state.startsWith('Z') ? undefined : start.join('-').replaceAll(':', '.');
  } catch {
    return undefined;
  }
}
