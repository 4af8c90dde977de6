import { randomBytes } from 'node:crypto';
import { readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { makeFolder } from '../files/make-folder.ts';
import { Problem } from '../domain/problem.ts';
import { isRunning, ownIdentity, type ProcessIdentity } from './processes.ts';

/** A mark in a folder. It counts while the process that made it is alive. */
export interface Presence {
  readonly name: string;
  readonly process: ProcessIdentity;
}

/** Makes a mark of this process. A folder can have several marks. */
export function announce(directory: string): Presence {
  const process = ownIdentity();
  const name = `${process.pid}_${process.start}_${randomBytes(6).toString('hex')}`;
  makeFolder(directory);
  writeFileSync(join(directory, name), '');
  return { name, process };
}

export function withdraw(directory: string, presence: Presence): void {
  rmSync(join(directory, presence.name), { force: true });
}

/** Returns the marks of living processes except `own`, and removes the marks of dead processes. */
export function othersPresent(directory: string, own?: Presence): Presence[] {
  return names(directory).flatMap((name) => {
    const [pid, start] = name.split('_');
    if (name === own?.name || pid === undefined || start === undefined) return [];
    const process = { pid: Number(pid), start };
    if (isRunning(process)) return [{ name, process }];
    rmSync(join(directory, name), { force: true });
    return [];
  });
}

/**
 * Does `work` while no other process does it in the same folder.
 *
 * Each process makes a mark with a name of its own and then reads all marks. A process that sees another living mark
 * removes its own and tries again. So two processes never both see only their own mark, and a dead process blocks
 * no other. A single lock file would have to be removed after its owner has died, and two processes that remove it at
 * once could both believe that they hold the lock.
 *
 * @throws Problem `lock.timeout` if other processes hold the lock for longer than `waitSeconds`
 */
export async function exclusively<Result>(
  directory: string,
  waitSeconds: number,
  work: () => Promise<Result>,
): Promise<Result> {
  const deadline = performance.now() + waitSeconds * 1000;
  for (;;) {
    const claim = announce(directory);
    const others = othersPresent(directory, claim);
    if (others.length === 0) {
      try {
        return await work();
      } finally {
        withdraw(directory, claim);
      }
    }
    withdraw(directory, claim);
    if (performance.now() > deadline) {
      throw new Problem(
        'lock.timeout',
        'another command has been starting or stopping the servers for too long',
        {
          where: `process ${others[0]!.process.pid}, ${directory}`,
          next: 'wait for that command or end it, then try again',
        },
      );
    }
    await sleep(20 + Math.random() * 60);
  }
}

function names(directory: string): string[] {
  try {
    return readdirSync(directory);
  } catch {
    return [];
  }
}
