import { existsSync, readFileSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { Client } from 'pg';
import { makeFolder } from '../files/make-folder.ts';
import { Problem } from '../domain/problem.ts';
import { findServer, startServer, stopServer, type ServerDefinition } from './detached-server.ts';
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
import { commandLineOf, identityOf } from './processes.ts';
import { runningRecord, type ServerRecord } from './server-record.ts';
import { serverAccount, type ServerAccount } from './unprivileged.ts';

export interface EmbeddedPostgresOptions {
  /** Folder of this server; made if it is missing. */
  readonly directory: string;
  /** 0 (default): a free port. */
  readonly port?: number;
  /** False: a crash of the machine may lose the database. For tests; money needs true, the default. */
  readonly durable?: boolean;
  /** Called with each step, as text for a terminal. */
  readonly onStep?: (text: string) => void;
}

export interface EmbeddedPostgres {
  /** With the password of the owner of the database, who is no superuser and may create databases. */
  readonly databaseUrl: string;
  readonly port: number;
  readonly pid: number;
  /** A server was running already. */
  readonly found: boolean;
}

/** Crash recovery of a large database takes its time; a server that starts says so meanwhile. */
const startSeconds = 120;
const answerSeconds = 5;

/**
 * Settings for a laptop that runs all components. Flushing stays on, because the database records what was paid for.
 */
const serverSettings: Readonly<Record<string, string>> = {
  listen_addresses: '127.0.0.1',
  unix_socket_directories: '',
  max_connections: '200',
  shared_buffers: '256MB',
  work_mem: '32MB',
  maintenance_work_mem: '256MB',
  // A run can stage a million rows at once: with the default of 1GB, checkpoints slow the staging down.
  max_wal_size: '4GB',
  checkpoint_timeout: '15min',
  // No replica uses the log of this server. Without a replica, a table that is filled in the transaction that made it
  // needs no log.
  wal_recycle: 'off',
  wal_init_zero: 'off',
  wal_level: 'minimal',
  max_wal_senders: '0',
  jit: 'off',
  timezone: 'UTC',
  log_timezone: 'UTC',
  log_checkpoints: 'off',
  // A statement of `enrich sql` can name a person, and so can the details of an error: a refused row, a line of COPY.
  log_min_error_statement: 'panic',
  log_error_verbosity: 'terse',
};

const throwAway: Readonly<Record<string, string>> = {
  fsync: 'off',
  synchronous_commit: 'off',
  full_page_writes: 'off',
  // An autovacuum worker visits each database once in this time, and a test run has a hundred databases.
  autovacuum_naptime: '10min',
};

/**
 * Starts the embedded PostgreSQL of a folder, or finds the running one. The server continues after this process. For
 * one folder, only one caller at a time is allowed.
 *
 * @throws Problem `port.taken`, `disk.full`, `postgres.data-directory`, `postgres.no-binaries`, `postgres.root`,
 *   `postgres.start`
 */
export async function startEmbeddedPostgres(options: EmbeddedPostgresOptions): Promise<EmbeddedPostgres> {
  const { directory, onStep = () => undefined } = options;
  const files = postgresFiles(directory);
  const definition = defineServer(files, options);
  try {
    const running = await findServer(definition, onStep);
    if (running) return describe(files, running, true);
    makeFolder(directory);
    if (!existsSync(files.data)) onStep(`Creating the embedded PostgreSQL in ${directory}`);
    await createDataDirectory(files, accountFor(files), options.durable ?? true);
    return describe(files, await startServer(definition), false);
  } catch (error) {
    throw isDiskFull(error) ? explainPostgresFailure(error.message, { ended: error.message, files }) : error;
  }
}

/** The address of the running server of a folder; undefined if none runs. */
export function runningPostgres(directory: string): string | undefined {
  const record = runningRecord(directory);
  return record && urlOf(postgresFiles(directory), record.port);
}

/**
 * Stops the server of a folder, even if it has connections; the data stays complete. Does nothing if no server runs.
 */
export async function stopEmbeddedPostgres(directory: string): Promise<void> {
  await stopServer(defineServer(postgresFiles(directory), { directory }));
}

function defineServer(files: PostgresFiles, options: EmbeddedPostgresOptions): ServerDefinition {
  const settings = { ...serverSettings, ...(options.durable === false ? throwAway : {}) };
  const fixedPort = options.port ?? 0;
  return {
    name: 'PostgreSQL',
    directory: files.directory,
    startSeconds,
    // The fast shutdown ends the sessions and leaves the data complete. The next signals are for a server that hangs.
    stop: [
      ['SIGINT', 20],
      ['SIGQUIT', 5],
      ['SIGKILL', 5],
    ],
    portsAreFixed: fixedPort !== 0,
    choosePorts: async (previous) => ({ port: await choosePort(fixedPort, previous?.port) }),
    command: ({ port }) => ({
      ...accountFor(files).wrap(join(postgresBinaries(), 'postgres'), [
        '-D',
        files.data,
        ...Object.entries({ ...settings, port }).flatMap(([name, value]) => ['-c', `${name}=${value}`]),
      ]),
      environment: postgresEnvironment(),
    }),
    probe: ({ port }) => probe(files, port),
    explain: (log, { ended, ports }) => explainPostgresFailure(log, { ended, files, port: ports.port }),
    findStray: () => findPostmaster(files),
  };
}

function describe(files: PostgresFiles, server: ServerRecord, found: boolean): EmbeddedPostgres {
  return { databaseUrl: urlOf(files, server.port), port: server.port, pid: server.pid, found };
}

function accountFor(files: PostgresFiles): ServerAccount {
  const account = serverAccount(existsSync(files.data) ? statSync(files.data) : undefined);
  if (account) return account;
  throw new Problem(
    'postgres.root',
    'PostgreSQL refuses to run as root, and root cannot become "nobody" here',
    {
      where: 'embedded PostgreSQL',
      next: 'run the command as an ordinary user, or set DATABASE_URL to a PostgreSQL of yours, 15 or later',
    },
  );
}

/**
 * Reads PostgreSQL's own lock file, which finds a server whose record is lost. Removes the lock file if its process is
 * no server of this folder: PostgreSQL takes any living process with that id for a server, and after a reboot another
 * process can have it.
 */
function findPostmaster(files: PostgresFiles): ServerRecord | undefined {
  const lines = lockFile(files);
  const pid = Number(lines[0]);
  if (!Number.isInteger(pid) || pid <= 0) return undefined;
  const identity = identityOf(pid);
  if (identity && commandLineOf(pid).includes(` -D ${files.data} `))
    return { ...identity, port: Number(lines[3]) };
  rmSync(join(files.data, 'postmaster.pid'), { force: true });
  return undefined;
}

function lockFile(files: PostgresFiles): string[] {
  try {
    return readFileSync(join(files.data, 'postmaster.pid'), 'utf8').split('\n');
  } catch {
    return [];
  }
}

function urlOf(files: PostgresFiles, port: number): string {
  return `postgres://${ownerRole}:${readPassword(files)}@127.0.0.1:${port}/${databaseName}`;
}

/** Connects only after the lock file says `ready`: until then another program can answer on this port. */
async function probe(files: PostgresFiles, port: number): Promise<'ready' | 'starting' | 'silent'> {
  if (lockFile(files)[7]?.trim() !== 'ready') return 'starting';
  const client = new Client({
    connectionString: urlOf(files, port),
    connectionTimeoutMillis: answerSeconds * 1000,
    query_timeout: answerSeconds * 1000,
  });
  client.on('error', () => undefined);
  try {
    await client.connect();
    await client.query('select 1');
    await client.end();
    return 'ready';
  } catch {
    // Not awaited, because a server that hangs never confirms the end.
    client.end().catch(() => undefined);
    return 'silent';
  }
}

function isDiskFull(error: unknown): error is Error {
  return error instanceof Error && 'code' in error && (error.code === 'ENOSPC' || error.code === 'EDQUOT');
}
