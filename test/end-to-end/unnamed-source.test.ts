import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { sampleExport } from '../../src/sandbox/population/sample-export.ts';
import { expectPromisesKept } from '../helpers/promises.ts';
import { TestSystem } from '../helpers/test-system.ts';

let system: TestSystem;

beforeAll(async () => {
  system = await TestSystem.open({ latency: 5 });
});

afterAll(() => system.close());

/** An export of no known CRM: the same record ids in each, and other people for each seed. */
function genericExport(seed: number): string {
  const file = join(system.directory, `people-${seed}.csv`);
  const text = [...sampleExport({ people: 12, seed })].join('');
  writeFileSync(file, text.replace('Record ID', 'id'));
  return file;
}

async function contacts(): Promise<readonly { readonly source: string; readonly contact: string }[]> {
  const { rows } = await system.warehouse.pool.query<{ source: string; contact: string }>(
    'select source, c::text as contact from enriched_contacts c order by source, contact_id',
  );
  return rows;
}

it('a file of an unnamed source whose contact ids are known as other people is refused before it is paid for', async () => {
  const first = await system.enrich(['run', genericExport(71), '--yes', '--json']);
  expect(first.facts().outcomes['enriched']).toBeGreaterThan(3);
  const before = await contacts();

  const other = genericExport(72);
  for (const command of [
    ['plan', other],
    ['run', other, '--yes'],
    ['run', other, '--yes', '--json'],
  ]) {
    const refused = await system.enrich(command);
    expect(refused.code).toBe(2);
    expect(refused.stdout + refused.stderr).toContain('--source NAME');
  }
  expect(await contacts()).toEqual(before);

  const named = await system.enrich(['run', other, '--yes', '--json', '--source', 'events']);
  expect(named.facts().outcomes['enriched']).toBeGreaterThan(3);
  const after = await contacts();
  expect(after.filter(({ source }) => source === 'generic')).toEqual(before);

  // The same file again, and the same source by its name, are no mistake.
  expect((await system.enrich(['plan', genericExport(71)])).code).toBe(0);
  expect((await system.enrich(['plan', other, '--source', 'generic'])).code).toBe(0);
  await expectPromisesKept(system);
});
