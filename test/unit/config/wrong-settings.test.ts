import { expect, it } from 'vitest';
import { readConfig } from '../../../src/config/settings.ts';

it.each([
  [{ TEMPORAL_WORKER_BUILD_ID: '1' }, ['TEMPORAL_WORKER_BUILD_ID']],
  [{ CALL_TIMEOUT: '0s' }, ['CALL_TIMEOUT']],
  [{ CALL_TIMEOUT: '25d' }, ['CALL_TIMEOUT']],
  [{ TEMPORAL_DEPLOYMENT_NAME: 'enrich' }, ['TEMPORAL_DEPLOYMENT_NAME']],
  [{ ENRICHMENT_API_KEY: 'a', ENRICHMENT_ACCESS_TOKEN: 'b' }, ['ENRICHMENT_ACCESS_TOKEN']],
  [
    { CALL_TIMEOUT: 'long', TEMPORAL_DEPLOYMENT_NAME: 'a.b', TEMPORAL_WORKER_BUILD_ID: '1' },
    ['TEMPORAL_DEPLOYMENT_NAME', 'CALL_TIMEOUT'],
  ],
])('readConfig() names each wrong setting of %j', (environment, names) => {
  const named = names.map((setting) => expect.objectContaining({ setting }) as unknown);
  expect(() => readConfig(environment)).toThrow(expect.objectContaining({ settings: named }));
});

it('Worker Versioning is off by default, and takes deployment name and build id from settings', () => {
  expect(readConfig({}).workerVersion).toBeUndefined();
  const settings = { TEMPORAL_DEPLOYMENT_NAME: 'enrich', TEMPORAL_WORKER_BUILD_ID: '2026-11-22' };
  const version = { deploymentName: 'enrich', buildId: '2026-11-22' };
  expect(readConfig(settings).workerVersion).toEqual(version);
});

it.each([
  [{ TEMPORAL_DEPLOYMENT_NAME: 'enrich' }, 'TEMPORAL_WORKER_BUILD_ID is missing'],
  [{ TEMPORAL_WORKER_BUILD_ID: '1' }, 'TEMPORAL_DEPLOYMENT_NAME is missing'],
  [{ TEMPORAL_DEPLOYMENT_NAME: 'a.b', TEMPORAL_WORKER_BUILD_ID: '1' }, 'a name without dots and colons'],
])('Worker Versioning refuses %j', (environment, message) =>
  expect(() => readConfig(environment)).toThrow(message),
);

it.each([
  'postgres://enrich:a,b@one:5432,two:5432/enrich',
  'postgres://enrich@/enrich?host=one,two',
  'postgres:///enrich?user=enrich&host=one%2Ctwo',
])('a database URL with several hosts is refused with the next step: %s', (address) => {
  expect(() => readConfig({ DATABASE_URL: address })).toThrow(/several hosts: name one address/);
});

it('a database URL may have commas in its login', () => {
  const address = 'postgres://enrich:a,b@one:5432/enrich?application_name=a,b';
  expect(readConfig({ DATABASE_URL: address })).toMatchObject({ databaseUrl: address });
});
