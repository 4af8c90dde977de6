import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { sampleExport } from '../../src/sandbox/sample-export.ts';
import { TestSystem } from '../helpers/system/test-system.ts';
import { expectPromisesKept } from '../helpers/system/promises.ts';

const system = await TestSystem.ofFile({ latency: 30 });
const staging = join(system.directory, 'state', 'staging');

/** In the order of a run: each process comes a step further than the one before. The second test has the staging. */
const points = ['planned', 'page-opened', 'admitted:3', 'calling:4', 'answered:5', 'recorded:6'] as const;

describe('a command that is killed', () => {
  it('a command that is killed at each point from its plan on is repeated to its end, and pays once', async () => {
    const people = 320;
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

  it('a killed command that reads standard input continues with the rows that it received', async () => {
    const rows = [...sampleExport({ people: 40, seed: 99 })].join('');
    const run = (environment: Record<string, string>) =>
      system.enrich(['run', '-', '--yes', '--json'], environment, rows);
    expect((await run({ ENRICH_KILL_AT: 'chunk-staged', ENRICH_HEARTBEAT_SECONDS: '3' })).code).toBeNull();
    expect(readdirSync(staging)).toHaveLength(1);
    const again = (await run({})).facts();
    expect(again).toMatchObject({ status: 'finished', file: 'standard input', rows: 40 });
    const runs = await system.warehouse.query`select run_id from enrichment.runs where file_path = '-'`;
    expect(runs).toEqual([{ run_id: again.run_id }]);
    expect(readdirSync(staging)).toEqual([]);
    await expectPromisesKept(system);
  });
});
