import { createServer } from 'node:http';
import { afterAll, expect, it, onTestFinished } from 'vitest';
import { checkComponents, type Finding } from '../../../src/cli/commands/doctor.ts';
import { readConfig } from '../../../src/config/settings.ts';
import { controlTaskQueue } from '../../../src/contract/temporal-names.ts';
import { openWarehouse } from '../../../src/db/database.ts';
import { workerIdentity } from '../../../src/temporal/worker-identity.ts';
import { createTestDatabase } from '../../helpers/database/database.ts';
import { listenHere } from '../../helpers/servers/ports.ts';
import { startTestTemporal } from '../../helpers/temporal/temporal.ts';
import { testWarehouse } from '../../helpers/database/test-warehouse.ts';
import { temporaryFolder } from '../../helpers/system/temporary-folder.ts';

const key = 'canary-key-1f9a';
const home = temporaryFolder();

/** A service that accepts one key and one token, and answers the two free endpoints. */
const service = createServer((request, response) => {
  const isToken = request.headers.authorization === 'Bearer token-2';
  if (request.headers['x-api-key'] !== key && !isToken) response.writeHead(401).end('{}');
  else if (request.url === '/api/v1/auth/health') response.end('{}');
  else if (request.url === '/api/v1/users/api_profile') response.end('{"id":"user-7"}');
  else response.writeHead(404).end();
});
const baseUrl = `http://127.0.0.1:${await listenHere(service)}/api/v1`;
const temporal = await startTestTemporal();

afterAll(async () => {
  await temporal.stop();
  service.closeAllConnections();
  service.close();
});

async function finding(part: string, settings: Record<string, string>): Promise<Finding> {
  const findings = await checkComponents(readConfig({ ENRICH_DATA_DIR: home, ...settings }));
  return findings.find((candidate) => candidate.part === part)!;
}

it('enrich doctor finds no fault on a machine without settings', async () => {
  const findings = await checkComponents(readConfig({ ENRICH_DATA_DIR: home }));
  expect(findings.filter((candidate) => candidate.state !== 'ok')).toEqual([]);
});

it('enrich doctor names the user of the service that the API key belongs to', async () => {
  const found = await finding('service', { ENRICHMENT_BASE_URL: baseUrl, ENRICHMENT_API_KEY: key });
  expect(found).toMatchObject({
    state: 'ok',
    what: expect.stringContaining('acting as user user-7') as string,
  });
});

it.each([
  ['a wrong API key', { ENRICHMENT_API_KEY: 'wrong' }, 'ENRICHMENT_API_KEY'],
  ['an API key that is set as an access token', { ENRICHMENT_ACCESS_TOKEN: key }, 'ENRICHMENT_ACCESS_TOKEN'],
  ['a missing API key', {}, 'set one of the two'],
])('enrich doctor reports %s as broken, and says what to set', async (_, credential, next) => {
  const found = await finding('service', { ENRICHMENT_BASE_URL: baseUrl, ...credential });
  expect(found).toMatchObject({ state: 'broken', next: expect.stringContaining(next) as string });
});

it('enrich doctor reports the missing migrations of a database, and does not apply them', async () => {
  const empty = await createTestDatabase({ empty: true });
  const migrated = await createTestDatabase();
  for (let time = 0; time < 2; time++) {
    expect((await finding('database', { DATABASE_URL: empty })).what).toContain(
      'migration missing: the next command adds them',
    );
  }
  expect((await finding('database', { DATABASE_URL: migrated })).what).toContain('up to date');
});

it('enrich doctor reports a read-only database as broken, and creates no table in a writable one', async () => {
  const url = await createTestDatabase();
  const warehouse = testWarehouse(openWarehouse(url));
  onTestFinished(() => warehouse.close());
  expect(await finding('database', { DATABASE_URL: url })).toMatchObject({ state: 'ok' });
  expect(await warehouse.query`select from pg_class where relname = 'written'`).toEqual([]);
  const name = new URL(url).pathname.slice(1);
  await warehouse.pool.query(`alter database ${name} set default_transaction_read_only = on`);
  const { state, what } = await finding('database', { DATABASE_URL: url });
  expect({ state, what }).toMatchObject({
    state: 'broken',
    what: expect.stringContaining('accepts only reads'),
  });
});

it('enrich doctor reports a refused database password and an unreachable Temporal as broken', async () => {
  const url = new URL(await createTestDatabase());
  url.password = 'canary-password-77';
  const settings = { ENRICH_DATA_DIR: home, DATABASE_URL: url.href, TEMPORAL_ADDRESS: '127.0.0.1:9' };
  const findings = await checkComponents(readConfig(settings));
  const broken = findings.filter(({ state }) => state === 'broken').map(({ part }) => part);
  expect(broken).toEqual(['database', 'temporal']);
});

it('enrich doctor warns if Temporal has no workers, or if its workers have different settings', async () => {
  const settings = { TEMPORAL_ADDRESS: temporal.address, DATABASE_URL: await createTestDatabase() };
  const found = await finding('temporal', settings);
  expect(found).toMatchObject({ state: 'attention', next: 'start one: enrich worker' });
  expect(found.what).toContain('no worker has polled in the last five minutes');

  const { client, namespace } = temporal;
  const poll = (mark: string) =>
    client
      .withDeadline(Date.now() + 3_000, () =>
        client.workflowService.pollWorkflowTaskQueue({
          namespace,
          taskQueue: { name: controlTaskQueue },
          identity: workerIdentity(mark),
        }),
      )
      .catch(() => undefined);
  const one = poll('one');
  await expect.poll(async () => (await finding('temporal', settings)).state, { timeout: 10_000 }).toBe('ok');
  const other = poll('other');
  await expect
    .poll(async () => (await finding('temporal', settings)).what, { timeout: 10_000 })
    .toContain('live workers have different settings');
  await Promise.all([one, other]);
});

it.each([
  [
    'receiver',
    {
      WEBHOOK_LISTEN: '0.0.0.0:8080',
      ENRICHMENT_BASE_URL: 'http://0.0.0.0:9/api/v1',
      ENRICHMENT_ALLOW_HTTP: 'true',
    },
  ],
  ['receiver', { WEBHOOK_PUBLIC_URL: 'http://hooks.example.com' }],
  ['receiver', { TEMPORAL_ADDRESS: temporal.address }],
  ['rate limits', { RATE_LIMITS: 'unlimited' }],
  ['budgets', { ENRICHMENT_BASE_URL: 'http://127.0.0.1:9/api/v1' }],
])('enrich doctor warns about the %s with the settings %o', async (part, settings) => {
  expect((await finding(part, settings)).state).toBe('attention');
});

it('enrich doctor prints no API key and no password', async () => {
  const url = new URL(await createTestDatabase());
  const settings = {
    ENRICHMENT_BASE_URL: baseUrl,
    ENRICHMENT_API_KEY: key,
    DATABASE_URL: url.href,
    WEBHOOK_PUBLIC_URL: baseUrl.replace('//', '//proxy:canary@').replace('/api/v1', ''),
  };
  const told = JSON.stringify(await checkComponents(readConfig({ ENRICH_DATA_DIR: home, ...settings })));
  expect(told).toContain('does not answer (status 401)');
  expect(told).not.toContain('canary');
  expect(told).not.toContain(key);
  expect(told).not.toContain(url.password);
});
