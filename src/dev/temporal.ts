import { once } from 'node:events';
import { createConnection } from 'node:net';
import { join } from 'node:path';
import { Problem } from '../domain/problem.ts';
import { provideServer, type ServerDefinition } from './server.ts';
import { ensureTemporalCli, type TemporalCliSettings } from './temporal-cli.ts';
import type { TemporalAddress } from '../temporal/connection.ts';
import { isServing, prepareNamespace } from '../temporal/connection.ts';

export interface EmbeddedTemporalOptions {
  readonly directory: string;
  readonly cli: TemporalCliSettings;
  readonly port?: number;
  readonly uiPort?: number;
  /** False keeps the server's data only in memory, for tests. The default is true, because runs need their history. */
  readonly durable?: boolean;
  /** Dynamic configuration with values as JSON. Only tests set this. */
  readonly dynamicConfig?: Readonly<Record<string, string>>;
  readonly onStep?: (text: string) => void;
}

const namespace = 'default';
/** The dev server would delete closed runs after a day, too early for operators who look at last week's runs. */
const retentionDays = 30;

/** Starts the Temporal dev server of a folder, or finds the running one. The server outlives this process. */
export async function startEmbeddedTemporal(
  options: EmbeddedTemporalOptions,
): Promise<TemporalAddress & { readonly pid: number }> {
  const { directory } = options;
  const server = await provideServer(defineServer(options));
  const address = `127.0.0.1:${server.port}`;
  try {
    await prepareNamespace(address, namespace, retentionDays);
  } catch (error) {
    throw new Problem('temporal.start', 'the Temporal dev server does not answer after its start', {
      where: join(directory, 'server.log'),
      next: 'run the same command again; if this repeats, read that log',
      cause: error,
    });
  }
  return { address, namespace, uiUrl: `http://127.0.0.1:${server.uiPort}`, embedded: true, pid: server.pid };
}

function defineServer(options: EmbeddedTemporalOptions): ServerDefinition {
  const { cli, directory, port = 0, uiPort = 0, durable = true, dynamicConfig = {}, onStep } = options;
  return {
    type: 'temporal',
    directory,
    startSeconds: 60,
    portSettings: 'TEMPORAL_PORT, TEMPORAL_UI_PORT',
    fixedPorts: { port, uiPort },
    command: async (ports) => ({
      command: (await ensureTemporalCli(cli, onStep ?? (() => undefined))).path,
      arguments: [
        'server',
        'start-dev',
        '--ip=127.0.0.1',
        `--port=${ports.port}`,
        `--ui-port=${ports.uiPort}`,
        ...(durable
          ? [`--db-filename=${join(directory, 'temporal.db')}`, '--sqlite-pragma=journal_mode=wal']
          : []),
        // By default, the server polls 20 times a second for new tasks, so each step of a workflow could wait 50 ms.
        '--dynamic-config-value=history.transferProcessorMaxPollRPS=1000',
        ...Object.entries(dynamicConfig).map(([key, value]) => `--dynamic-config-value=${key}=${value}`),
        '--log-level=warn',
        '--log-format=json',
      ],
      // The environment leaves out TEMPORAL_* variables, which are for clients but would also affect the CLI.
      environment: {
        PATH: process.env['PATH'],
        HOME: process.env['HOME'],
        // With a small heap, garbage collection takes much processor time of a server for tests.
        ...(durable ? {} : { GOGC: '400' }),
      },
    }),
    // A client that is refused waits a second before it tries again, longer than the dev server needs to start.
    isReady: async (ports) => (await isListening(ports.port)) && (await isServing(ports.port, namespace)),
    otherwise:
      `if its file is damaged, move ${directory} away: runs continue from the warehouse, and only the history in the ` +
      'UI is lost; or set TEMPORAL_ADDRESS to a Temporal server of yours',
  };
}

async function isListening(port: number): Promise<boolean> {
  const socket = createConnection({ port, host: '127.0.0.1' });
  const isConnected = await once(socket, 'connect').then(
    () => true,
    () => false,
  );
  socket.destroy();
  return isConnected;
}
