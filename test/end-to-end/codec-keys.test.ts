import { randomBytes } from 'node:crypto';
import { afterEach, expect, it, onTestFinished } from 'vitest';
import { expectPromisesKept } from '../helpers/system/promises.ts';
import { TestSystem } from '../helpers/system/test-system.ts';

const system = await TestSystem.ofFile();
const key = { TEMPORAL_CODEC_KEYS: `of-the-command:${randomBytes(32).toString('base64')}` };

afterEach(() => system.stopWorker());

it('commands and the worker report a run whose codec key the worker lacks', async () => {
  // Its output is read.
  const worker = system.begin(['worker'], system.sharedTemporal());
  onTestFinished(async () => {
    worker.kill('SIGTERM');
    await worker.ended;
  });
  await expect.poll(worker.output).toContain('worker on');
  const run = await system.here(['run', system.sample(10), '--yes', '--json'], key);
  expect(run.facts()).toMatchObject({
    error: {
      type: 'run.workflow-failing',
      message: expect.stringContaining('encrypted with key "of-the-command", which is not set here'),
    },
    exit_code: 1,
  });
  const runId = (await system.here(['status', 'latest', '--json'], key)).facts().run_id;
  expect(worker.output()).toMatch(
    new RegExp(`encrypted with key \\\\"of-the-command\\\\"[^\\n]*workflow ${runId}`),
  );

  const doctor = await system.here(['doctor'], key);
  expect(doctor.stdout.replace(/\s+/g, ' ')).toContain(
    'a worker has no key, and cannot read what this command',
  );

  const status = await system.here(['status', runId], key);
  expect(status.stdout).toContain('the workers cannot read or carry out the workflow of this run');
  for (const command of ['resume', 'pause', 'resume', 'cancel']) {
    const ended = await system.here([command, runId], key);
    expect(ended.stderr).toContain('error: the workers cannot read or carry out the workflow of this run');
    expect(ended.code).toBe(1);
  }
  await expectPromisesKept(system);
});

it('enrich run and doctor warn if the workers encrypt and the command does not', async () => {
  await system.startWorker(key);
  const ended = await system.here(['run', system.sample(10), '--yes']);
  const warning =
    'the workers encrypt what Temporal stores (key of-the-command), and this command writes plain text';
  expect(ended.stderr.replace(/\s+/g, ' ')).toContain(warning);
  const doctor = await system.here(['doctor']);
  expect(doctor.stdout.replace(/\s+/g, ' ')).toContain(warning);
  const withKey = await system.here(['doctor'], key);
  expect(withKey.stdout).toContain('encrypts with key "of-the-command"');
  await expectPromisesKept(system);
});
