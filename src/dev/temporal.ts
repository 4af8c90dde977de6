import { join } from 'node:path';
import { makeFolder } from '../files/make-folder.ts';
import { portTaken } from '../domain/port-taken.ts';
import { Problem } from '../domain/problem.ts';
import { findServer, startServer, stopServer, type ServerDefinition } from './detached-server.ts';
import { choosePort, isListening } from './ports.ts';
import { isRunning } from './processes.ts';
import type { ServerPorts, ServerRecord } from './server-record.ts';
import { ensureTemporalCli, type TemporalCliSettings } from './temporal-cli.ts';
import { isServing, prepareNamespace, type SearchAttributeTypes } from '../temporal/namespace.ts';

export interface EmbeddedTemporalOptions {
  /** Folder of this server; made if it is missing. */
  readonly directory: string;
  readonly cli: TemporalCliSettings;
  /** 0 (default): a free port. */
  readonly port?: number;
  readonly uiPort?: number;
  /** False: the server keeps its data in memory only. For tests; runs need true, the default. */
  readonly durable?: boolean;
  /** Dynamic configuration of the server, with values as JSON. For tests. */
  readonly dynamicConfig?: Readonly<Record<string, string>>;
  readonly searchAttributes: SearchAttributeTypes;
  readonly onStep?: (text: string) => void;
}

export interface EmbeddedTemporal {
  /** `127.0.0.1:…`, the format of clients and workers. */
  readonly address: string;
  readonly namespace: string;
  readonly uiUrl: string;
  readonly pid: number;
  /** A server was running already. */
  readonly found: boolean;
}

const namespace = 'default';
/** By default the dev server deletes closed runs after a day, which is too early to look at a run of last week. */
const retentionDays = 30;

/**
 * Starts the Temporal dev server of a folder, or finds the running one. The server continues after this process. For
 * one folder, only one caller at a time is allowed.
 *
 * @throws Problem `temporal.cli`, `port.taken`, `disk.full`, `temporal.data-directory`, `temporal.start`
 */
export async function startEmbeddedTemporal(options: EmbeddedTemporalOptions): Promise<EmbeddedTemporal> {
  const { onStep = () => undefined } = options;
  const running = await findServer(defineServer(options, 'temporal'), onStep);
  const server = running ?? (await startWithCli(options, onStep));
  await prepareNamespace(addressOf(server), namespace, retentionDays, options.searchAttributes).catch(
    (error: unknown) => {
      throw lostWhileStarting(error, server, options);
    },
  );
  return {
    address: addressOf(server),
    namespace,
    uiUrl: `http://127.0.0.1:${server.uiPort}`,
    pid: server.pid,
    found: running !== undefined,
  };
}

/** Stops the server of a folder. Does nothing if none runs. */
export async function stopEmbeddedTemporal(directory: string): Promise<void> {
  const cli = { temporalCliPath: undefined, cacheDirectory: directory };
  await stopServer(defineServer({ directory, cli, searchAttributes: {} }, 'temporal'));
}

async function startWithCli(
  options: EmbeddedTemporalOptions,
  onStep: (text: string) => void,
): Promise<ServerRecord> {
  const cli = await ensureTemporalCli(options.cli, onStep);
  makeFolder(options.directory);
  return startServer(defineServer(options, cli.path));
}

function defineServer(options: EmbeddedTemporalOptions, cliPath: string): ServerDefinition {
  const {
    directory,
    port: fixedPort = 0,
    uiPort: fixedUiPort = 0,
    durable = true,
    dynamicConfig = {},
  } = options;
  return {
    name: 'Temporal dev server',
    directory,
    startSeconds: 60,
    stop: [
      ['SIGTERM', 15],
      ['SIGKILL', 5],
    ],
    portsAreFixed: fixedPort !== 0 || fixedUiPort !== 0,
    choosePorts: async (previous) => {
      const port = await choosePort(fixedPort, previous?.port);
      return { port, uiPort: await choosePort(fixedUiPort, previous?.uiPort) };
    },
    command: ({ port, uiPort }) => ({
      command: cliPath,
      arguments: [
        'server',
        'start-dev',
        '--ip=127.0.0.1',
        `--port=${port}`,
        `--ui-port=${uiPort}`,
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
      // Without the variables TEMPORAL_*: they are meant for clients, and the CLI would read them too.
      environment: {
        PATH: process.env['PATH'],
        HOME: process.env['HOME'],
        // Collecting garbage takes a good part of the server's processor time while its heap is small.
        ...(durable ? {} : { GOGC: '400' }),
      },
    }),
    // A refused client waits for a second before it tries again. The dev server starts faster.
    probe: async ({ port }) =>
      (await isListening(port)) && (await isServing(port, namespace)) ? 'ready' : 'starting',
    explain: (log, context) => explain(log, context, options),
  };
}

/** The error of a server that stopped soon after its start. */
function lostWhileStarting(
  cause: unknown,
  server: ServerRecord,
  { directory }: EmbeddedTemporalOptions,
): Problem {
  const what = isRunning(server) ? 'does not answer any more' : 'ended right after its start';
  return new Problem('temporal.start', `the Temporal dev server ${what}`, {
    where: join(directory, 'server.log'),
    next: 'run the same command again; if this repeats, read that log',
    cause,
  });
}

function addressOf({ port }: ServerPorts): string {
  return `127.0.0.1:${port}`;
}

function explain(
  log: string,
  { ended, ports }: { ended: string; ports: ServerPorts },
  { directory }: EmbeddedTemporalOptions,
): Problem {
  const lines = log.trim().split('\n').slice(-12);
  const cause = new Error(lines.join('\n'));
  if (/no space left|database or disk is full/i.test(log)) {
    return new Problem('disk.full', 'the disk is full: the Temporal dev server cannot write', {
      where: directory,
      next: 'free disk space, then run the same command again; nothing is lost',
      cause,
    });
  }
  if (/address already in use|can't set frontend port|can't set UI port/i.test(log)) {
    return portTaken(
      `${ports.port} or ${ports.uiPort}`,
      'the Temporal dev server',
      'TEMPORAL_PORT, TEMPORAL_UI_PORT',
      'unset both to use free ones',
      cause,
    );
  }
  if (/not a database|malformed|disk image|unable to open database/i.test(log)) {
    return new Problem('temporal.data-directory', 'the Temporal dev server cannot use its database file', {
      where: join(directory, 'temporal.db'),
      next: `move ${directory} away: runs continue from the warehouse, and only the history in the UI is lost`,
      cause,
    });
  }
  return new Problem(
    'temporal.start',
    `the Temporal dev server did not start (${ended}): ${lines.at(-1) ?? ''}`,
    {
      where: join(directory, 'server.log'),
      next: 'read that log, or set TEMPORAL_ADDRESS to a Temporal server of yours',
      cause,
    },
  );
}
