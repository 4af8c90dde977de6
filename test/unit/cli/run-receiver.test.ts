import { expect, it, onTestFinished } from 'vitest';
import { runOwnReceiver } from '../../../src/cli/session/servers.ts';
import { readConfig } from '../../../src/config/settings.ts';
import { createLogger } from '../../../src/telemetry/log.ts';
import { freePort } from '../../helpers/servers/ports.ts';
import { temporaryFolder } from '../../helpers/system/temporary-folder.ts';

const parts = {
  stack: { databaseUrl: 'postgres://127.0.0.1:1/none' },
  temporal: () => Promise.reject(new Error('no delivery comes')),
  metrics: () => Promise.resolve(undefined),
  log: createLogger({ level: 'silent', format: 'json' }),
};

it('runOwnReceiver() starts no second receiver while a first one listens at WEBHOOK_LISTEN', async () => {
  const listen = `127.0.0.1:${await freePort()}`;
  const config = readConfig({ WEBHOOK_LISTEN: listen, ENRICH_DATA_DIR: temporaryFolder(onTestFinished) });
  const receiver = await runOwnReceiver(config, parts);
  onTestFinished(() => receiver!.close());
  expect((await fetch(`http://${listen}/healthz`)).status).toBe(200);
  expect(await runOwnReceiver(config, parts)).toBeUndefined();
});
