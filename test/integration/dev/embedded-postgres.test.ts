import { chmodSync, existsSync, readFileSync, statSync, truncateSync } from 'node:fs';
import { join, dirname } from 'node:path';
import { beforeEach, expect, it } from 'vitest';
import { startEmbeddedPostgres } from '../../../src/dev/postgres.ts';
import { runningRecord, stopServer } from '../../../src/dev/server.ts';
import { initialisedPostgres } from '../../helpers/servers/initialised-postgres.ts';
import { executeAt } from '../../helpers/database/global-setup.ts';
import { serverFolder } from '../../helpers/servers/server-folder.ts';

const copyInitialised = await initialisedPostgres();

let directory: string;

beforeEach(() => {
  directory = serverFolder();
});

async function start(options: { port?: number; durable?: boolean } = {}) {
  return startEmbeddedPostgres({ directory, durable: false, ...options });
}

/** Starts a server whose data directory exists, which takes less time than a first start. */
async function startInitialised(options: { port?: number; durable?: boolean } = {}) {
  copyInitialised(directory);
  return start(options);
}

it('the embedded PostgreSQL has one database with a password, owned by a role without superuser rights', async () => {
  // Started by root, PostgreSQL runs as another user, who cannot open this directory.
  chmodSync(dirname(directory), 0o700);
  const { databaseUrl, port, pid } = await start();
  if (process.getuid?.() === 0) expect(readFileSync(`/proc/${pid}/status`, 'utf8')).not.toMatch(/^Uid:\s+0/m);
  const rows = await executeAt(
    databaseUrl,
    `select usesuper, pg_get_userbyid(datdba) = current_user as owner, pg_encoding_to_char(encoding) as encoding
         from pg_user, pg_database where usename = current_user and datname = current_database()`,
  );
  expect(rows).toEqual([{ usesuper: false, owner: true, encoding: 'UTF8' }]);
  expect(statSync(join(directory, 'password')).mode & 0o777).toBe(0o600);
  expect(readFileSync(join(directory, 'password'), 'utf8').trim()).toBe(new URL(databaseUrl).password);
  const asSuperuser = executeAt(`postgres://postgres@127.0.0.1:${port}/postgres`, 'select 1');
  await expect(asSuperuser).rejects.toThrow('password');
});

it('the embedded PostgreSQL keeps its data and port after a stop and after a kill', async () => {
  const first = await startInitialised({ durable: true });
  await executeAt(first.databaseUrl, 'create table kept as select 42 as answer');
  expect(await start()).toEqual(first);
  await stopServer(directory);
  process.kill((await start({ durable: true })).pid, 'SIGKILL');
  await expect.poll(() => runningRecord(directory)).toBeUndefined();
  const last = await start({ durable: true });
  expect(last).toMatchObject({ databaseUrl: first.databaseUrl });
  expect(
    await executeAt(last.databaseUrl, "select answer, current_setting('fsync') as fsync from kept"),
  ).toEqual([{ answer: 42, fsync: 'on' }]);
});

it('the log of the embedded PostgreSQL has neither failed statements nor values of rows', async () => {
  const { databaseUrl } = await startInitialised();
  const select = "select from people where address = 'ada@orbit.example'";
  await expect(executeAt(databaseUrl, select)).rejects.toThrow('does not exist');
  await executeAt(databaseUrl, 'create table people (address text primary key)');
  const insert = "insert into people values ('ada@orbit.example')";
  await executeAt(databaseUrl, insert);
  await expect(executeAt(databaseUrl, insert)).rejects.toThrow('duplicate key');
  const log = readFileSync(join(directory, 'server.log'), 'utf8');
  expect(log).toContain('relation "people" does not exist');
  expect(log).toContain('duplicate key');
  expect(log).not.toContain('ada@');
});

it('the embedded PostgreSQL refuses to start in a broken data directory, names it, and keeps its files', async () => {
  await startInitialised();
  await stopServer(directory);
  truncateSync(join(directory, 'data', 'global', 'pg_control'), 10);
  await expect(start()).rejects.toMatchObject({
    type: 'postgres.start',
    next: expect.stringContaining(join(directory, 'data')) as string,
  });
  expect(existsSync(join(directory, 'data', 'PG_VERSION'))).toBe(true);
});
