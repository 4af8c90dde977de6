import { mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

/**
 * Runs `work` while no other process does, because two commands can start at once in a fresh clone. It repeats the
 * algorithm of src/dev/presence.ts, which may not be compiled yet.
 *
 * @param {string} directory folder of the claims of waiting processes
 * @param {() => void} onWait called once if another process has a claim
 * @param {() => Promise<void>} work
 */
export async function exclusively(directory, onWait, work) {
  mkdirSync(directory, { recursive: true });
  const claim = `${process.pid}_${Math.random().toString(36).slice(2)}`;
  for (let waits = 0; ; waits++) {
    writeFileSync(join(directory, claim), '');
    const others = readdirSync(directory).filter((name) => name !== claim && isAlive(directory, name));
    if (others.length === 0) break;
    rmSync(join(directory, claim));
    if (waits === 0) onWait();
    await sleep(50 + Math.random() * 100);
  }
  try {
    await work();
  } finally {
    rmSync(join(directory, claim), { force: true });
  }
}

function isAlive(directory, name) {
  try {
    process.kill(Number(name.split('_')[0]), 0);
    return true;
  } catch (error) {
    if (error.code === 'EPERM') return true;
    rmSync(join(directory, name), { force: true });
    return false;
  }
}
