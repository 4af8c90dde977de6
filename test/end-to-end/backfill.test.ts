import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { sampleExport } from '../../src/sandbox/sample-export.ts';
import { TestSystem } from '../helpers/system/test-system.ts';
import { expectPromisesKept } from '../helpers/system/promises.ts';

const concurrency = 2;

const system = await TestSystem.ofFile({ latency: 600 });

function write(name: string, people: number, seed: number): string {
  const file = join(system.directory, name);
  writeFileSync(file, [...sampleExport({ people, seed })].join(''));
  return file;
}

it('a backfill continues beside other runs, and their calls go first', async () => {
  await system.startWorker({ CALL_CONCURRENCY: String(concurrency) });
  const backfill = system.enrich(['backfill', write('everybody.csv', 400, 1), '--yes', '--json']);
  await expect.poll(() => system.sandbox.log.bill().calls).toBeGreaterThan(5);
  const run = (await system.here(['run', write('few.csv', 60, 2), '--yes', '--json'])).facts();
  const filled = (await backfill).facts();

  const rows = await system.warehouse.query<{ run_id: string }>`
    select run_id from enrichment.attempts order by admitted_at`;
  const order = rows.map((row) => row.run_id);
  const between = order.slice(order.indexOf(run.run_id), order.lastIndexOf(run.run_id));
  // Calls that were in flight already when the other run began.
  expect(between.filter((runId) => runId === filled.run_id).length).toBeLessThanOrEqual(concurrency);
  expect(order.at(-1)).toBe(filled.run_id);
  expect([run.status, filled.status]).toEqual(['finished', 'finished']);
  await expectPromisesKept(system);
});
