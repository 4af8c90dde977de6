import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { projectFile } from '../../src/files/project-file.ts';
import { expectPromisesKept } from '../helpers/system/promises.ts';
import { TestSystem, type Ended } from '../helpers/system/test-system.ts';

const system = await TestSystem.ofFile({ latency: 1_500 });

/** Begins `npx enrich …` in a process group of its own. `ended` also waits for the processes that npx started. */
async function begunByNpx(parameters: string): Promise<{ npx: number; ended: Promise<Ended> }> {
  const pidFile = join(system.directory, 'npx.pid');
  const line = `echo $$ > ${pidFile}; cd ${projectFile('.')}; exec setsid npx enrich ${parameters}`;
  const ended = system.shell(line, { npm_config_update_notifier: 'false', npm_config_logs_max: '0' });
  const before = system.sandbox.log.calls().length;
  await expect.poll(() => system.sandbox.log.calls().length, { interval: 50 }).toBeGreaterThan(before + 2);
  return { npx: Number(readFileSync(pidFile, 'utf8')), ended };
}

it.each([
  ['SIGKILL to npx alone', (npx: number): boolean => process.kill(npx, 'SIGKILL')],
  ['SIGTERM to all processes of npx', (npx: number): boolean => process.kill(-npx, 'SIGTERM')],
])('a run that npx started is paused by %s', async (_, interrupt) => {
  const { npx, ended } = await begunByNpx(`run ${system.sample(400)} --yes --json`);
  interrupt(npx);
  const facts = (await ended).facts();
  expect(facts).toMatchObject({ status: 'paused', reason_type: 'run.interrupted' });
  expect((await ended).stderr).not.toContain('stopped at once');
  await expectPromisesKept(system);
});
