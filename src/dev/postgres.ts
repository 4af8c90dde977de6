import { existsSync, mkdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Client } from 'pg';
import { Problem } from '../domain/problem.ts';
import { choosePort } from './ports.ts';
import { explainPostgresFailure } from './postgres-failure.ts';
import {
  createDataDirectory,
  databaseName,
  ownerRole,
  postgresBinaries,
  postgresEnvironment,
  postgresFiles,
  readPassword,
  type PostgresFiles,
} from './postgres-files.ts';
import {
  commandLineOf,
  identityOf,
  isRunning,
  spawnDetached,
  stopProcess,
  type ProcessIdentity,
} from './processes.ts';
import { readRecord, removeRecord, runningRecord, writeRecord, type ServerRecord } from './server-record.ts';
import { serverAccount, type ServerAccount } from './unprivileged.ts';

export interface EmbeddedPostgresOptions {
  /** Holds everything of this server; made where it is missing. */
  readonly directory: string;
  /** 0, the default: a free one. */
  readonly port?: number;
  /** False: a crash of the machine may lose the database. For tests; money needs true, the default. */
  readonly durable?: boolean;
  /** Told what is being done, in words for a terminal. */
  readonly onStep?: (text: string) => void;
}

export interface EmbeddedPostgres {
  /** With the password of the database's owner, who is no superuser but may create further databases. */
  readonly databaseUrl: string;
  readonly port: number;
  readonly pid: number;
  /** A server was running already. */
  readonly found: boolean;
}

/** Crash recovery of a large database takes its time; a server that starts says so meanwhile. */
const startSeconds = 120;
const answerSeconds = 5;

/** SIGINT is the fast shutdown: sessions end, the data is complete. The others are for a server that hangs. */
const shutdown = [
  ['SIGINT', 20],
  ['SIGQUIT', 5],
  ['SIGKILL', 5],
] as const;
const endHanging = [
  ['SIGINT', 3],
  ['SIGQUIT', 2],
  ['SIGKILL', 5],
] as const;

/** Sized for a laptop that runs everything else as well; flushing stays on, because what is in here was paid for. */
const serverSettings: Readonly<Record<string, string>> = {
  listen_addresses: '127.0.0.1',
  unix_socket_directories: '',
  max_connections: '200',
  shared_buffers: '256MB',
  work_mem: '32MB',
  maintenance_work_mem: '256MB',
  // A million rows are staged in one go: with the default of 1GB, checkpoints take the disk from the load.
  max_wal_size: '4GB',
  checkpoint_timeout: '15min',
  // No replica follows this server; without one, a table filled in the transaction that made it needs no log.
  wal_level: 'minimal',
  max_wal_senders: '0',
  jit: 'off',
  timezone: 'UTC',
  log_timezone: 'UTC',
  log_checkpoints: 'off',
};

const throwAway: Readonly<Record<string, string>> = {
  fsync: 'off',
  synchronous_commit: 'off',
  full_page_writes: 'off',
};

/**
 * Starts the embedded PostgreSQL of a directory, or finds the one that runs there. It outlives this process. One caller
 * at a time for a directory.
 *
 * @throws Problem `port.taken`, `disk.full`, `postgres.data-directory`, `postgres.no-binaries`, `postgres.root`,
 *   `postgres.start`
 */
export async function startEmbeddedPostgres(options: EmbeddedPostgresOptions): Promise<EmbeddedPostgres> {
  const { directory, onStep = () => undefined } = options;
  const files = postgresFiles(directory);
  try {
    mkdirSync(directory, { recursive: true, mode: 0o700 });
    return (await findRunning(files, onStep)) ?? (await startServer(files, options, onStep));
  } catch (error) {
    throw error instanceof Error && 'code' in error && (error.code === 'ENOSPC' || error.code === 'EDQUOT')
      ? explainPostgresFailure('No space left on device', { ended: error.code, files })
      : error;
  }
}

/** Stops the server of a directory, connections or not, and leaves the data complete. Nothing happens where none runs. */
export async function stopEmbeddedPostgres(directory: string): Promise<void> {
  const files = postgresFiles(directory);
  const running = runningRecord(directory) ?? strayPostmaster(files);
  if (running) await stopPostmaster(running);
}

/** @returns undefined where none runs, or where one ran that did not answer and was ended */
async function findRunning(
  files: PostgresFiles,
  onStep: (text: string) => void,
): Promise<EmbeddedPostgres | undefined> {
  const record = runningRecord(files.directory) ?? strayPostmaster(files);
  if (record === undefined) return undefined;
  const url = urlOf(files, record.port);
  if (await answers(url, files, record)) {
    writeRecord(files.directory, record);
    return { databaseUrl: url, port: record.port, pid: record.pid, found: true };
  }
  onStep(`The PostgreSQL left by an earlier command does not answer (process ${record.pid}): replacing it`);
  await stopPostmaster(record, endHanging);
  removeRecord(files.directory);
  return undefined;
}

/** Whether a server answers with our password; one that is still starting, or ending, is waited for. */
async function answers(url: string, files: PostgresFiles, server: ProcessIdentity): Promise<boolean> {
  const deadline = Date.now() + startSeconds * 1000;
  while (isRunning(server) && Date.now() < deadline) {
    const state = await probe(url);
    if (state === 'ready') return true;
    if (state === 'other' || (state === 'refused' && statusLine(files) === 'ready')) return false;
    await sleep(50);
  }
  return false;
}

async function startServer(
  files: PostgresFiles,
  options: EmbeddedPostgresOptions,
  onStep: (text: string) => void,
): Promise<EmbeddedPostgres> {
  const account = serverAccount(existsSync(files.data) ? statSync(files.data) : undefined);
  if (account === undefined) {
    throw new Problem(
      'postgres.root',
      'PostgreSQL refuses to run as root, and root cannot become "nobody" here',
      {
        where: 'embedded PostgreSQL',
        next: 'run the command as an ordinary user, or set DATABASE_URL to a PostgreSQL of yours, 15 or later',
      },
    );
  }
  if (!existsSync(files.data)) onStep(`Creating the embedded PostgreSQL in ${files.directory}`);
  await createDataDirectory(files, account, options.durable ?? true);
  // Between choosing a free port and listening on it, another program may take it: then another one is chosen.
  for (let attempt = 1; ; attempt++) {
    const port = await choosePort(
      options.port ?? 0,
      attempt === 1 ? readRecord(files.directory)?.port : undefined,
    );
    try {
      return await startOnPort(files, account, port, options.durable ?? true);
    } catch (error) {
      const again = error instanceof Problem && error.type === 'port.taken' && !options.port && attempt < 4;
      if (!again) throw error;
    }
  }
}

async function startOnPort(
  files: PostgresFiles,
  account: ServerAccount,
  port: number,
  durable: boolean,
): Promise<EmbeddedPostgres> {
  const settings = { ...serverSettings, ...(durable ? {} : throwAway), port: String(port) };
  const command = account.wrap(join(postgresBinaries(), 'postgres'), [
    '-D',
    files.data,
    ...Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]),
  ]);
  const server = spawnDetached({
    ...command,
    environment: postgresEnvironment(),
    directory: files.directory,
    logFile: files.log,
  });
  if (server.pid > 0) writeRecord(files.directory, { pid: server.pid, start: server.start, port });
  const url = urlOf(files, port);
  const deadline = Date.now() + startSeconds * 1000;
  while (server.ended() === undefined && Date.now() < deadline) {
    if (statusLine(files) === 'ready' && (await probe(url)) === 'ready') {
      return { databaseUrl: url, port, pid: server.pid, found: false };
    }
    await sleep(20);
  }
  await stopPostmaster(server);
  const log = existsSync(files.log) ? readFileSync(files.log, 'utf8') : '';
  throw explainPostgresFailure(log, {
    ended: server.ended() ?? `no answer in ${startSeconds} s`,
    files,
    port,
  });
}

/**
 * PostgreSQL's own lock file, read for what our record cannot tell: a server whose record is gone is found by it, and
 * one that names a process which is no server of this directory is removed. PostgreSQL would take any live
 * process of that id for a server, and after a reboot there may well be one.
 */
function strayPostmaster(files: PostgresFiles): ServerRecord | undefined {
  const lines = lockFile(files);
  const pid = Number(lines[0]);
  if (!Number.isInteger(pid) || pid <= 0) return undefined;
  const identity = identityOf(pid);
  if (identity && commandLineOf(pid).includes(` -D ${files.data} `))
    return { ...identity, port: Number(lines[3]) };
  rmSync(join(files.data, 'postmaster.pid'), { force: true });
  return undefined;
}

function statusLine(files: PostgresFiles): string {
  return lockFile(files)[7]?.trim() ?? '';
}

function lockFile(files: PostgresFiles): string[] {
  try {
    return readFileSync(join(files.data, 'postmaster.pid'), 'utf8').split('\n');
  } catch {
    return [];
  }
}

async function stopPostmaster(
  server: ProcessIdentity,
  steps: readonly (readonly [NodeJS.Signals, number])[] = shutdown,
): Promise<void> {
  if (await stopProcess(server, steps)) return;
  throw new Problem('postgres.stop', 'the embedded PostgreSQL cannot be stopped', {
    where: `process ${server.pid}`,
    next: 'end that process, then run the same command again',
  });
}

function urlOf(files: PostgresFiles, port: number): string {
  return `postgres://${ownerRole}:${readPassword(files)}@127.0.0.1:${port}/${databaseName}`;
}

async function probe(url: string): Promise<'ready' | 'starting' | 'refused' | 'other'> {
  const client = new Client({ connectionString: url, connectionTimeoutMillis: answerSeconds * 1000 });
  client.on('error', () => undefined);
  try {
    await client.connect();
    await client.query('select 1');
    return 'ready';
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : undefined;
    if (code === '57P03') return 'starting';
    return code === 'ECONNREFUSED' ? 'refused' : 'other';
  } finally {
    await client.end().catch(() => undefined);
  }
}
