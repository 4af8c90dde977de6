import { readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { sampleExport } from '../../src/sandbox/population/sample-export.ts';
import { TestHouse } from '../helpers/command-line.ts';
import { expectPromisesKept } from '../helpers/promises.ts';

let house: TestHouse;
let spool: string;

beforeAll(async () => {
  house = await TestHouse.open({ latency: 30 });
  spool = join(house.directory, 'state', 'spool');
});

afterAll(() => house.close());

describe('a command that is killed', () => {
  const points = [
    'chunk-staged',
    'planned',
    'page-opened',
    'admitted:3',
    'calling:4',
    'answered:5',
    'recorded:6',
  ];

  it.each(points.map((point, index) => ({ point, seed: index + 1 })))(
    'at $point is taken up by the same command, and nobody is paid for twice',
    async ({ point, seed }) => {
      const file = join(house.directory, `contacts-${seed}.csv`);
      writeFileSync(file, [...sampleExport({ people: 150, seed })].join(''));
      const killed = await house.enrich(['run', file, '--yes', '--json'], { ENRICH_KILL_AT: point });
      expect(killed.code).toBeNull();
      const again = (await house.enrich(['run', file, '--yes', '--json'])).facts();
      expect(again.status).toBe('finished');
      expect(Object.values(again.outcomes).reduce((sum, count) => sum + count, 0)).toBe(150);
      const runs = await house.warehouse.pool.query(
        'select run_id from enrichment.runs where file_path = $1',
        [file],
      );
      expect(runs.rows).toEqual([{ run_id: again.run_id }]);
      expect(house.sandbox.log.bill().billedAgain).toEqual({});
      await expectPromisesKept(house);
    },
  );

  it('and reads standard input goes on with the rows that were written to it', async () => {
    const rows = [...sampleExport({ people: 100, seed: 99 })].join('');
    const run = (environment: Record<string, string>) =>
      house.enrich(['run', '-', '--yes', '--json'], environment, rows);
    expect((await run({ ENRICH_KILL_AT: 'chunk-staged' })).code).toBeNull();
    expect(readdirSync(spool)).toHaveLength(1);
    const again = (await run({})).facts();
    expect(again).toMatchObject({ status: 'finished', file: 'standard input', rows: 100 });
    const runs = await house.warehouse.pool.query(`select run_id from enrichment.runs where file_path = '-'`);
    expect(runs.rows).toEqual([{ run_id: again.run_id }]);
    expect(readdirSync(spool)).toEqual([]);
    await expectPromisesKept(house);
  });
});
