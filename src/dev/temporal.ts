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
  /** 0 (default): a free port. */
  readonly port?: number;
  readonly uiPort?: number;
  /** False: the server keeps its data in memory only. For tests; runs need true, the default. */
  readonly durable?: boolean;
  /** Values as JSON. For tests. */
  readonly dynamicConfig?: Readonly<Record<string, string>>;
  readonly onStep?: (text: string) => void;
}

const namespace = 'default';
/** By default the dev server deletes closed runs after a day, which is too early to look at a run of last week. */
const retentionDays = 30;

/** Starts the Temporal dev server of a folder, or finds the running one. It continues after this process. */
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
        // By default the server polls 20 times a second for new tasks, so that each step of a workflow would wait up to
        // 50 ms.
        '--dynamic-config-value=history.transferProcessorMaxPollRPS=1000',
        ...Object.entries(dynamicConfig).map(([key, value]) => `--dynamic-config-value=${key}=${value}`),
        '--log-level=warn',
        '--log-format=json',
      ],
      // Without the variables TEMPORAL_*, which are for clients but would affect the CLI too.
      environment: {
        PATH: process.env['PATH'],
        HOME: process.env['HOME'],
        // The server spends much processor time on garbage collection while its heap is small.
        ...(durable ? {} : { GOGC: '400' }),
      },
    }),
    // A refused client waits for a second before it tries again. The dev server starts faster.
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
