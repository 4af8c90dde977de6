import { homedir } from 'node:os';
import { join } from 'node:path';
import { Client, Connection } from '@temporalio/client';
import { beforeEach, expect, it } from 'vitest';
import { runningRecord, stopServer } from '../../../src/dev/server.ts';
import { startEmbeddedTemporal } from '../../../src/dev/temporal.ts';
import { takenPort } from '../../helpers/servers/ports.ts';
import { serverFolder } from '../../helpers/servers/server-folder.ts';

let directory: string;

beforeEach(() => {
  directory = serverFolder();
});

const cli = {
  temporalCliPath: process.env['TEMPORAL_CLI_PATH'],
  cacheDirectory: join(process.env['XDG_CACHE_HOME'] ?? join(homedir(), '.cache'), 'enrich'),
};

const start = (port = 0) => startEmbeddedTemporal({ directory, cli, port });

async function withClient<Result>(
  address: string,
  use: (client: Client) => Promise<Result>,
): Promise<Result> {
  const connection = await Connection.connect({ address });
  try {
    return await use(new Client({ connection }));
  } finally {
    await connection.close();
  }
}

it('the Temporal dev server has a UI, keeps runs for 30 days, and keeps its ports after a kill', async () => {
  const first = await start();
  expect((await fetch(first.uiUrl!)).status).toBe(200);
  await withClient(first.address, async (client) => {
    const { config } = await client.workflowService.describeNamespace({ namespace: first.namespace });
    expect(Number(config?.workflowExecutionRetentionTtl?.seconds)).toBe(30 * 86_400);
    const searchAttributes = { EnrichmentRows: [500] };
    await client.workflow.start('unknown', { taskQueue: 'none', workflowId: 'kept', searchAttributes });
  });
  await stopServer(directory);
  const second = await start();
  process.kill(second.pid, 'SIGKILL');
  await expect.poll(() => runningRecord(directory)).toBeUndefined();
  const third = await start();
  expect(third).toEqual({ ...first, pid: third.pid });
  const kept = await withClient(third.address, (client) => client.workflow.getHandle('kept').describe());
  expect(kept.status.name).toBe('RUNNING');
});

it('the Temporal dev server fails to start with exit code 2 if its port is in use', async () => {
  await expect(start(await takenPort())).rejects.toMatchObject({
    type: 'port.taken',
    exitCode: 2,
  });
});
