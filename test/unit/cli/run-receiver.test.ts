import { expect, it, onTestFinished } from 'vitest';
import { runOwnReceiver } from '../../../src/cli/session/servers.ts';
import { readConfig } from '../../../src/config/settings.ts';
import { createLogger } from '../../../src/telemetry/log.ts';
import { freePort } from '../../helpers/servers/ports.ts';
import { temporaryFolder } from '../../helpers/system/temporary-folder.ts';

const parts = {
  databaseUrl: 'postgres://127.0.0.1:1/none',
  temporal: () => Promise.reject(new Error('no delivery comes')),
  metrics: undefined,
  log: createLogger({ level: 'silent', format: 'json' }),
};

it.each(['127.0.0.1', '[::1]'])(
  'runOwnReceiver() receives at a WEBHOOK_PUBLIC_URL of this machine, once for all commands: %s',
  async (host) => {
    const directory = temporaryFolder(onTestFinished);
    const publicUrl = `http://${host}:${await freePort()}`;
    const config = readConfig({ WEBHOOK_PUBLIC_URL: publicUrl, ENRICH_DATA_DIR: directory });
    const receiver = await runOwnReceiver(config, parts);
    onTestFinished(() => receiver!.close());
    expect((await fetch(`${publicUrl}/healthz`)).status).toBe(200);
    expect(await runOwnReceiver(config, parts)).toBeUndefined();
  },
);
