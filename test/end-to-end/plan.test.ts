import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { sampleExport } from '../../src/sandbox/sample-export.ts';
import { TestSystem } from '../helpers/system/test-system.ts';

const system = await TestSystem.ofFile();
write('good.csv', [...sampleExport({ people: 30, seed: 7 })].join(''));

function write(name: string, content: string): string {
  const file = join(system.directory, name);
  writeFileSync(file, content);
  return file;
}

it('plan --write-mapping of an unrecognised header writes the proposal, and ends with exit code 0', async () => {
  const file = write('unknown.csv', 'Nr,Kontakt\nK-1,mira@orbit.example\nK-2,jon@orbit.example\n');
  const mapping = join(system.directory, 'proposed.yaml');
  const ended = await system.here(['plan', file, '--write-mapping', mapping, '--json']);
  expect(ended.code).toBe(0);
  expect(ended.stderr).not.toContain('error:');
  expect(JSON.parse(ended.stdout)).toEqual({
    mapping_file: mapping,
    next: `check ${mapping}, then: enrich plan ${file} --mapping ${mapping}`,
  });
  const planned = await system.here(['plan', file, '--mapping', mapping, '--json']);
  expect(JSON.parse(planned.stdout)).toMatchObject({ people: 2 });
});

it('enrich plan warns that no row fits --only, and ends with exit code 0', async () => {
  const ended = await system.here(['plan', 'good.csv', '--only', 'Company Name=Late X']);
  expect(ended.stderr).toContain('  note: no row fits --only Company Name=Late X\n');
  expect(ended.code).toBe(0);
});

it('enrich plan is no run: not in the list, not the latest, not in the budgets', async () => {
  const planned = await system.here(['plan', 'good.csv', '--json']);
  expect(planned.code).toBe(0);
  expect(JSON.parse((await system.here(['status', '--json'])).stdout)).toEqual([]);
  expect((await system.here(['status', 'latest'])).code).toBe(2);
  expect((await system.here(['budget', 'show'])).stdout).not.toContain('run:');
});

it('enrich plan names the limit of the run itself, and not the budget of a run that never begins', async () => {
  const command = ['plan', 'good.csv', '--max-credits', '0'];
  const shown = await system.here(command);
  expect(shown.stdout).toContain('the limit of the run (--max-credits) has no credits left');
  expect(shown.stdout).not.toContain('run:');
  const facts = JSON.parse((await system.here([...command, '--json'])).stdout) as unknown;
  expect(facts).toMatchObject({ short_budget: { budget: 'run', available: '0' } });
});

it('enrich plan without a credential of the service says that enrich run refuses it', async () => {
  const nothing = { ENRICHMENT_API_KEY: '' };
  const planned = await system.here(['plan', 'good.csv'], nothing);
  expect(planned.stderr).toContain('note: enrich run refuses this plan: neither ENRICHMENT_API_KEY');
  expect(planned.code).toBe(0);
  expect((await system.here(['run', 'good.csv', '--yes'], nothing)).code).toBe(2);
  expect((await system.here(['plan', 'good.csv'])).stderr).not.toContain('refuses');
});
