import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { sampleExport } from '../../src/sandbox/population/sample-export.ts';
import { TestSystem } from '../helpers/system/test-system.ts';
import { expectPromisesKept } from '../helpers/system/promises.ts';

const system = await TestSystem.ofFile({ latency: 30 });
const staging = join(system.directory, 'state', 'staging');

describe('a command that is killed', () => {
  it.each([
    { point: 'chunk-staged', people: 30 },
    { point: 'planned', people: 30 },
    { point: 'page-opened', people: 30 },
    { point: 'admitted:3', people: 40 },
    { point: 'calling:4', people: 50 },
    { point: 'answered:5', people: 60 },
    { point: 'recorded:6', people: 70 },
  ])(
    'a command that is killed at $point is continued by the same command, without a second payment',
    async ({ point, people }) => {
      const file = system.sample(people);
      const killed = await system.enrich(['run', file, '--yes', '--json'], { ENRICH_KILL_AT: point });
      expect(killed.code).toBeNull();
      await system.startWorker();
      const again = (await system.here(['run', file, '--yes', '--json'])).facts();
      await system.stopWorker();
      expect(again.status).toBe('finished');
      expect(Object.values(again.outcomes).reduce((sum, count) => sum + count, 0)).toBe(people);
      const runs = await system.warehouse.pool.query(
        'select run_id from enrichment.runs where file_path = $1',
        [file],
      );
      expect(runs.rows).toEqual([{ run_id: again.run_id }]);
      expect(system.sandbox.log.bill().billedAgain).toEqual({});
      await expectPromisesKept(system);
    },
  );

  it('a killed command that reads standard input continues with the rows that it received', async () => {
    const rows = [...sampleExport({ people: 40, seed: 99 })].join('');
    const run = (environment: Record<string, string>) =>
      system.enrich(['run', '-', '--yes', '--json'], environment, rows);
    expect((await run({ ENRICH_KILL_AT: 'chunk-staged' })).code).toBeNull();
    expect(readdirSync(staging)).toHaveLength(1);
    const again = (await run({})).facts();
    expect(again).toMatchObject({ status: 'finished', file: 'standard input', rows: 40 });
    const runs = await system.warehouse.pool.query(
      `select run_id from enrichment.runs where file_path = '-'`,
    );
    expect(runs.rows).toEqual([{ run_id: again.run_id }]);
    expect(readdirSync(staging)).toEqual([]);
    await expectPromisesKept(system);
  });
});
