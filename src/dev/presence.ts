import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { existsSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { makeFolder } from '../files/make-folder.ts';
import { Problem } from '../domain/problem.ts';

/** A process, identified by its id and its start time, because the operating system reuses ids. */
export interface ProcessIdentity {
  readonly pid: number;
  readonly start: string;
}

/** Returns when a process started, because ids are reused. Undefined if it does not exist or has ended. */
export function processStartTime(pid: number): string | undefined {
  return existsSync('/proc/self/stat') ? startFromProc(pid) : startFromPs(pid);
}

export function isRunning({ pid, start }: ProcessIdentity): boolean {
  return processStartTime(pid) === start;
}

/** Creates a mark file for this process. The mark counts while the process lives. */
export function announce(directory: string): string {
  const name = `${process.pid}_${processStartTime(process.pid) ?? '0'}_${randomBytes(6).toString('hex')}`;
  makeFolder(directory);
  writeFileSync(join(directory, name), '');
  return name;
}

/** Removes a mark of `announce`. */
export function withdraw(directory: string, name: string): void {
  rmSync(join(directory, name), { force: true });
}

/** Lists the living processes with a mark other than `own`, and removes the marks of dead processes. */
export function othersPresent(directory: string, own?: string): ProcessIdentity[] {
  const names = existsSync(directory) ? readdirSync(directory) : [];
  return names.flatMap((name) => {
    const [pid, start = ''] = name.split('_');
    const process = { pid: Number(pid), start };
    if (name === own) return [];
    if (isRunning(process)) return [process];
    withdraw(directory, name);
    return [];
  });
}

/** Runs `work` while no other process does so in this folder. A killed process blocks no other. */
export async function exclusively<Result>(
  directory: string,
  waitSeconds: number,
  work: () => Promise<Result>,
): Promise<Result> {
  const deadline = performance.now() + waitSeconds * 1000;
  for (;;) {
    // The mark comes first. Two processes that looked first would both find no other, and work at once.
    const mark = announce(directory);
    const [other] = othersPresent(directory, mark);
    try {
      if (other === undefined) return await work();
    } finally {
      withdraw(directory, mark);
    }
    if (performance.now() > deadline) {
      const what = 'another command has been starting or stopping the servers for too long';
      throw new Problem('lock.timeout', what, {
        where: `process ${other.pid}, ${directory}`,
        next: 'wait for that command or end it, then try again',
      });
    }
    await sleep(20 + Math.random() * 60);
  }
}

/** Linux: the start in clock ticks since the boot, the 22nd field of /proc/PID/stat. */
function startFromProc(pid: number): string | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    // The second field is the process name in parentheses, which can contain spaces and parentheses.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    // A zombie process has ended, unless other threads of it still hold its ports.
    return fields[0] === 'Z' && readdirSync(`/proc/${pid}/task`).length === 1 ? undefined : fields[19];
  } catch {
    return undefined;
  }
}

/** Other systems: the start as `ps` prints it, in a form that fits into the name of a mark. */
function startFromPs(pid: number): string | undefined {
  try {
    const line = execFileSync('ps', ['-o', 'stat=,lstart=', '-p', String(pid)], {
      encoding: 'utf8',
      env: { ...process.env, LC_ALL: 'C' },
      stdio: 'pipe',
    });
    const [state = 'Z', ...start] = line.trim().split(/\s+/);
    return state.startsWith('Z') ? undefined : start.join('-').replaceAll(':', '.');
  } catch {
    return undefined;
  }
}
