import { mkdtempSync, rmSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client, Connection, type WorkflowHandle } from '@temporalio/client';
import { NativeConnection, Runtime } from '@temporalio/worker';
import { stopServer } from '../../../src/dev/server.ts';
import { startEmbeddedTemporal } from '../../../src/dev/temporal.ts';
import { silentLogger } from './workflow-bundle.ts';

export interface TestTemporal {
  readonly address: string;
  readonly namespace: string;
  readonly client: Client;
  readonly workerConnection: NativeConnection;
  stop(): Promise<void>;
}

/** Bytes of history after which the server suggests to continue as new. By default 4 MB, which take long to send. */
const historyLimit = 400_000;

/** Sends signals until the server suggests that the workflow continues as new. */
export async function reachHistoryLimit(handle: WorkflowHandle, signal: string): Promise<void> {
  for (let sent = 0; sent < historyLimit; sent += 100_000) await handle.signal(signal, '.'.repeat(120_000));
}

/**
 * Starts a Temporal dev server in a temporary directory. Call it once in a test file, because it installs the SDK's
 * runtime.
 */
export async function startTestTemporal(): Promise<TestTemporal> {
  Runtime.install({ logger: silentLogger });
  const directory = mkdtempSync(join(tmpdir(), 'enrich-temporal-'));
  const server = await startEmbeddedTemporal({
    directory,
    durable: false,
    dynamicConfig: { 'limit.historySize.suggestContinueAsNew': String(historyLimit) },
    cli: {
      temporalCliPath: process.env['TEMPORAL_CLI_PATH'],
      cacheDirectory: join(process.env['XDG_CACHE_HOME'] ?? join(homedir(), '.cache'), 'enrich'),
    },
  });
  const connection = await Connection.connect({ address: server.address });
  const workerConnection = await NativeConnection.connect({ address: server.address });
  return {
    address: server.address,
    namespace: server.namespace,
    client: new Client({ connection, namespace: server.namespace }),
    workerConnection,
    stop: async () => {
      await workerConnection.close();
      await connection.close();
      await stopServer(directory);
      rmSync(directory, { recursive: true, force: true });
    },
  };
}
