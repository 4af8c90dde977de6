import { execFileSync, spawn } from 'node:child_process';
import { closeSync, existsSync, openSync, readFileSync, readdirSync, renameSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';

/** One incarnation of a process: the operating system reuses process ids. */
export interface ProcessIdentity {
  readonly pid: number;
  /** When it started, in the system's own notation; only compared, never read. */
  readonly start: string;
}

/** A server that was started by this process and outlives it. */
export interface DetachedProcess extends ProcessIdentity {
  /** How the process ended; undefined while it runs. */
  ended(): string | undefined;
}

export function ownIdentity(): ProcessIdentity {
  return identityOf(process.pid) ?? { pid: process.pid, start: '0' };
}

/** The process that has this id now; undefined where none has, or where it has ended and only waits to be reaped. */
export function identityOf(pid: number): ProcessIdentity | undefined {
  const start = existsSync('/proc/self/stat') ? startFromProc(pid) : startFromPs(pid);
  return start === undefined ? undefined : { pid, start };
}

export function isRunning(process: ProcessIdentity): boolean {
  return identityOf(process.pid)?.start === process.start;
}

/** The command line of a process, arguments joined by spaces; empty where there is none. */
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
 * Starts a server in a session of its own: neither the end of this process nor Ctrl-C in its terminal reaches it. Its
 * output goes to a file, because a pipe to us would end it with us; the log of the start before is kept beside it.
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
 * Asks a process to end by each signal in turn, waiting a while after each.
 *
 * @param steps signals, with the seconds that each is given
 * @returns whether it has ended
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
    // The second field is the name in parentheses, which may hold anything; the rest is counted from behind it.
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
