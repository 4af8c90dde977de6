import { mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

/**
 * Does `work` while no other script does it: two commands may be typed at once on a fresh clone. Everyone claims under
 * a name of its own and steps back from another's living claim, so a killed script is no obstacle (the same way as
 * src/dev/presence.ts, which is not compiled yet when this runs).
 *
 * @param {string} directory
 * @param {() => void} onWait told once, when another person is at it
 * @param {() => Promise<void>} work
 */
export async function exclusively(directory, onWait, work) {
  mkdirSync(directory, { recursive: true });
  const claim = `${process.pid}_${Math.random().toString(36).slice(2)}`;
  for (let waits = 0; ; waits++) {
    writeFileSync(join(directory, claim), '');
    const others = readdirSync(directory).filter((name) => name !== claim && lives(directory, name));
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

function lives(directory, name) {
  try {
    process.kill(Number(name.split('_')[0]), 0);
    return true;
  } catch (error) {
    if (error.code === 'EPERM') return true;
    rmSync(join(directory, name), { force: true });
    return false;
  }
}
