import { expect, it } from 'vitest';
import { TestSystem } from '../helpers/system/test-system.ts';
import { expectPromisesKept } from '../helpers/system/promises.ts';

const system = await TestSystem.ofFile({ latency: 30 });

/** In the order of a run: each process comes a step further than the one before. */
const points = ['admitted:2', 'calling:3', 'answered:4', 'recorded:5'] as const;

it('a command that is killed at each point of a call is repeated to its end, and pays once', async () => {
  const people = 200;
  const file = system.sample(people);
  const command = ['run', file, '--yes', '--json'];
  for (const point of points) {
    const killed = await system.enrich(command, { ENRICH_KILL_AT: point, ENRICH_HEARTBEAT_SECONDS: '3' });
    expect({ point, code: killed.code }).toEqual({ point, code: null });
  }
  await system.startWorker();
  const again = (await system.here(command)).facts();
  await system.stopWorker();
  expect(again.status).toBe('finished');
  expect(Object.values(again.outcomes).reduce((sum, count) => sum + count, 0)).toBe(people);
  const runs = await system.warehouse.query`select run_id from enrichment.runs`;
  expect(runs).toEqual([{ run_id: again.run_id }]);
  expect(system.sandbox.log.bill().billedAgain).toEqual({});
  await expectPromisesKept(system);
});
