import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { openWarehouse } from '../../src/db/database.ts';
import { Store, type LoggedDelivery } from '../../src/sandbox/store.ts';
import { createTestDatabase } from '../helpers/database/database.ts';
import { startLineageReceiver } from '../helpers/servers/lineage-receiver.ts';
import { TestSystem } from '../helpers/system/test-system.ts';
import { expectPromisesKept, type Witness } from '../helpers/system/promises.ts';
import { stagedRun, testSpec } from '../helpers/warehouse/rows.ts';
import { testWarehouse } from '../helpers/database/test-warehouse.ts';

const system = await TestSystem.ofFile();

/** Returns the sandbox that the demo uses. */
async function demoSandbox(): Promise<Witness & { readonly root: string }> {
  const directory = join(system.directory, 'state', 'sandbox', 'service');
  const { port } = JSON.parse(readFileSync(join(directory, 'server.json'), 'utf8')) as { port: number };
  const root = `http://127.0.0.1:${port}`;
  const deliveries = (await (await fetch(`${root}/sandbox/deliveries`)).json()) as LoggedDelivery[];
  return { root, log: Object.assign(new Store(join(directory, 'state')), { deliveries: () => deliveries }) };
}

it('the demo ends with enriched contacts if the service writes errors only in error_details', async () => {
  const clock = { SANDBOX_CLOCK: '2027-03-01T00:00:00Z' };
  const receiver = await startLineageReceiver();
  await system.holdServersOf({ ENRICHMENT_BASE_URL: '', ...clock });
  const ended = await system.enrich(['demo', '--people', '120', '--json'], {
    OPENLINEAGE_URL: receiver.url,
    ...clock,
  });
  const facts = ended.facts();
  expect(facts).toMatchObject({
    status: 'finished',
    rows: 120,
    credits: { reserved: '0', unknown: '0' },
    late_results: { awaited: 0, expired: 0 },
  });

  await receiver.close();
  expect(receiver.events.map(({ eventType, job }) => [eventType, job.name])).toEqual([
    ['START', 'enrich.demo'],
    ['COMPLETE', 'enrich.demo'],
  ]);
  expect(ended.stderr).toContain('read as demo:');
  expect(ended.stderr).not.toContain('set ENRICHMENT_BASE_URL');
  expect(ended.stderr).toContain('other commands use it without ENRICHMENT_BASE_URL');
  const folder = join(system.directory, 'import');
  await system.here(['export', '--for', 'hubspot', '--source', 'demo', '--output', folder]);
  const { parts } = JSON.parse(readFileSync(join(folder, 'manifest.json'), 'utf8')) as {
    parts: { file: string; rows: number }[];
  };
  expect(readFileSync(join(folder, parts[0]!.file), 'utf8')).toMatch(/^Record ID[,;].+\r?\n/);

  // Import files for the operator's own CRM must not have the invented record ids.
  const own = await system.here(['export', '--for', 'hubspot', '--output', join(system.directory, 'own')]);
  expect(own).toMatchObject({
    code: 0,
    stderr: expect.stringContaining('nothing to import: source "hubspot"'),
  });

  const sandbox = await demoSandbox();
  const { credits, billedAgain } = sandbox.log.bill();
  // On a slow machine, the demo also polls late results.
  const calls = sandbox.log.calls().filter(({ path }) => path === '/people/bulk_match').length;
  expect(facts.credits.settled).toBe(credits);
  expect([facts.calls, billedAgain]).toEqual([calls, {}]);
  await expectPromisesKept({ warehouse: system.warehouse, sandbox });

  // Commands must say that the people are invented.
  const status = await system.here(['status', facts.run_id]);
  expect(status.stdout).toMatch(/^ {2}service: the sandbox \(invented people, no cost\)$/m);
  const exported = await system.here(['export', '--run', facts.run_id]);
  expect(exported.stderr).toContain('the sandbox invented data of these contacts');

  const refused = await fetch(`${sandbox.root}/api/v1/people/match`, { method: 'POST' });
  expect(Object.keys((await refused.json()) as object)).toEqual(['error_details']);
});

it('enrich run with a real service refuses a warehouse that has sandbox data', async () => {
  const refused = await system.hereAlone(['run', system.sample(3), '--yes']);
  expect(refused).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('error: this warehouse has invented people of the sandbox\n') as string,
  });
  expect(system.sandbox.log.bill().calls).toBe(0);
});

it('demo, run, match and worker refuse the sandbox in a warehouse that has runs of a real service', async () => {
  const databaseUrl = await createTestDatabase();
  const warehouse = testWarehouse(openWarehouse(databaseUrl, { connections: 1 }));
  await stagedRun(warehouse, [], testSpec({ service: system.sandbox.baseUrl }));
  await warehouse.close();
  const ofSandbox = { DATABASE_URL: databaseUrl, ENRICHMENT_BASE_URL: '' };
  const refusals = [
    await system.hereAlone(['demo', '--people', '20'], { DATABASE_URL: databaseUrl }),
    await system.hereAlone(['run', system.sample(3), '--yes'], ofSandbox),
    await system.here(['match', '--email', 'mira@nordlys.example', '--yes'], ofSandbox),
    await system.here(['worker'], ofSandbox),
  ];
  for (const { stderr, code } of refusals) {
    expect(stderr).toMatch(/^error: this warehouse has runs of the service http:.*\n +where: DATABASE_URL/m);
    expect(code).toBe(2);
  }
});
