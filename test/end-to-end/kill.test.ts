import { expect, it } from 'vitest';
import type { RunFacts } from '../../src/contract/run-facts.ts';
import { TestSystem } from '../helpers/system/test-system.ts';
import { expectPromisesKept } from '../helpers/system/promises.ts';

const system = await TestSystem.ofFile({ latency: 30 });

/** Runs a command whose process is killed at a point of a call. */
async function killAt(point: string, command: readonly string[]): Promise<void> {
  const killed = await system.enrich(command, { ENRICH_KILL_AT: point, ENRICH_HEARTBEAT_SECONDS: '3' });
  expect({ point, code: killed.code }).toEqual({ point, code: null });
}

/** What commands say of a killed run, and that a pause records its calls. */
async function expectPausable(runId: string): Promise<void> {
  const { calls } = system.sandbox.log.bill();
  const killed = await system.hereAlone(['status', runId.slice(-6)]);
  expect(killed.stdout).toContain(`run ${runId}: interrupted`);
  expect(killed.stdout).toContain('no worker carries out the run');
  expect(killed.stdout).toMatch(/\d+ calls? had no recorded answer, and the credits stay reserved/);
  expect(killed.stdout).toContain(`next: enrich resume ${runId}`);
  const listed = await system.hereAlone(['status', '--json']);
  expect(listed.stderr).toContain(`${runId}: no worker carries out the run`);
  const inList = (JSON.parse(listed.stdout) as RunFacts[]).find(({ run_id: id }) => id === runId);
  const alone = await system.hereAlone(['status', runId, '--json']);
  for (const facts of [inList, alone.facts()])
    expect(facts).toMatchObject({ reason_type: 'run.no-worker', next: `enrich resume ${runId}` });

  expect(await system.hereAlone(['pause', runId])).toMatchObject({ code: 0 });
  expect(await system.warehouse.query`select from attempts where status = 'admitted'`).toEqual([]);
  expect(system.sandbox.log.bill().calls).toBe(calls);
  const reason = expect.stringMatching(/^paused by \S+$/) as string;
  const paused = await system.here(['status', runId, '--json']);
  expect(paused.facts()).toMatchObject({ status: 'paused', reason });
}

it('a run that is killed at each point of a call can be paused and continued to its end, and pays once', async () => {
  const people = 200;
  const run = ['run', system.sample(people), '--yes', '--json'];
  // In the order of a run: each process comes a step further than the one before.
  for (const point of ['admitted:2', 'calling:3', 'answered:4']) await killAt(point, run);
  const [{ run_id: runId }] = await system.warehouse.query`select run_id from enrichment.runs`;
  await expectPausable(runId as string);
  const resume = ['resume', runId as string, '--json'];
  await killAt('recorded:5', resume);
  await system.startWorker();
  const again = (await system.here(resume)).facts();
  await system.stopWorker();
  expect(again.status).toBe('finished');
  expect(Object.values(again.outcomes).reduce((sum, count) => sum + count, 0)).toBe(people);
  expect(await system.warehouse.query`select run_id from enrichment.runs`).toEqual([{ run_id: runId }]);
  expect(system.sandbox.log.bill().billedAgain).toEqual({});
  await expectPromisesKept(system);
});
