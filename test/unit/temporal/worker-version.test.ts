import { expect, it } from 'vitest';
import { readConfig } from '../../../src/config/settings.ts';

it('Worker Versioning is off by default, and takes deployment name and build id from settings', () => {
  expect(readConfig({}).workerVersion).toBeUndefined();
  expect(
    readConfig({ TEMPORAL_DEPLOYMENT_NAME: 'enrich', TEMPORAL_WORKER_BUILD_ID: '2026-11-22' }).workerVersion,
  ).toEqual({ deploymentName: 'enrich', buildId: '2026-11-22' });
});

it.each([
  [{ TEMPORAL_DEPLOYMENT_NAME: 'enrich' }, 'TEMPORAL_WORKER_BUILD_ID is missing'],
  [{ TEMPORAL_WORKER_BUILD_ID: '1' }, 'TEMPORAL_DEPLOYMENT_NAME is missing'],
  [{ TEMPORAL_DEPLOYMENT_NAME: 'a.b', TEMPORAL_WORKER_BUILD_ID: '1' }, 'a name without dots and colons'],
])('Worker Versioning refuses %j', (environment, message) =>
  expect(() => readConfig(environment)).toThrow(message),
);
