import { mkdtempSync, rmSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client, Connection } from '@temporalio/client';
import { NativeConnection, Runtime } from '@temporalio/worker';
import { searchAttributes } from '../../../src/contract/temporal-names.ts';
import { startEmbeddedTemporal, stopEmbeddedTemporal } from '../../../src/dev/temporal.ts';
import { silentLogger } from './workflow-bundle.ts';

export interface TestTemporal {
  readonly address: string;
  readonly namespace: string;
  readonly client: Client;
  readonly workerConnection: NativeConnection;
  stop(): Promise<void>;
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
    cli: {
      temporalCliPath: process.env['TEMPORAL_CLI_PATH'],
      cacheDirectory: join(process.env['XDG_CACHE_HOME'] ?? join(homedir(), '.cache'), 'enrich'),
    },
    searchAttributes,
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
      await stopEmbeddedTemporal(directory);
      rmSync(directory, { recursive: true, force: true });
    },
  };
}
