import { execFileSync, spawn, spawnSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client } from 'pg';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { startEmbeddedPostgres, stopEmbeddedPostgres } from '../../../src/dev/postgres.ts';
import { identityOf } from '../../../src/dev/processes.ts';
import { compiledModule } from '../../helpers/system/compiled.ts';
import { initialisedPostgres } from '../../helpers/servers/initialised-postgres.ts';
import { takenPort } from '../../helpers/servers/ports.ts';

const asRoot = process.getuid?.() === 0;
const copyInitialised = await initialisedPostgres();

let home: string;
let directory: string;

beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'enrich-postgres-'));
  directory = join(home, 'postgres');
});

afterEach(async () => {
  await stopEmbeddedPostgres(directory);
  rmSync(home, { recursive: true, force: true });
});

async function start(options: { port?: number; durable?: boolean } = {}) {
  return startEmbeddedPostgres({ directory, durable: false, ...options });
}

/** Starts a server whose data directory exists, which takes less time than a first start. */
async function startInitialised(options: { port?: number; durable?: boolean } = {}) {
  copyInitialised(directory);
  return start(options);
}

async function query(databaseUrl: string, text: string): Promise<Record<string, unknown>[]> {
  const client = new Client({ connectionString: databaseUrl });
  await client.connect();
  try {
    return (await client.query(text)).rows as Record<string, unknown>[];
  } finally {
    await client.end();
  }
}

it('the embedded PostgreSQL gives a database to an owner who is no superuser', async () => {
  const { databaseUrl } = await start();
  const [row] = await query(
    databaseUrl,
    `select usesuper, pg_get_userbyid(datdba) = current_user as owner, pg_encoding_to_char(encoding) as encoding
         from pg_user, pg_database where usename = current_user and datname = current_database()`,
  );
  expect(row).toEqual({ usesuper: false, owner: true, encoding: 'UTF8' });
});

it('the embedded PostgreSQL keeps its password in a file of its owner, and no superuser can log in', async () => {
  const { databaseUrl, port } = await start();
  expect(statSync(join(directory, 'password')).mode & 0o777).toBe(0o600);
  expect(readFileSync(join(directory, 'password'), 'utf8').trim()).toBe(new URL(databaseUrl).password);
  await expect(query(`postgres://postgres@127.0.0.1:${port}/postgres`, 'select 1')).rejects.toThrow(
    'password',
  );
});

it('the embedded PostgreSQL flushes to the disk by default', async () => {
  copyInitialised(directory);
  const { databaseUrl } = await startEmbeddedPostgres({ directory });
  expect(await query(databaseUrl, 'show fsync')).toEqual([{ fsync: 'on' }]);
});

it('the log of the embedded PostgreSQL has no statement that failed, and no value of a refused row', async () => {
  const { databaseUrl } = await startInitialised();
  const select = "select from people where address = 'ada@orbit.example'";
  await expect(query(databaseUrl, select)).rejects.toThrow('does not exist');
  await query(databaseUrl, 'create table people (address text primary key)');
  const insert = "insert into people values ('ada@orbit.example')";
  await query(databaseUrl, insert);
  await expect(query(databaseUrl, insert)).rejects.toThrow('duplicate key');
  const log = readFileSync(join(directory, 'server.log'), 'utf8');
  expect(log).toContain('relation "people" does not exist');
  expect(log).toContain('duplicate key');
  expect(log).not.toContain('ada@');
});

it('the embedded PostgreSQL is found again, and after a stop starts with its data and its port', async () => {
  const first = await startInitialised();
  await query(first.databaseUrl, 'create table kept as select 42 as answer');
  expect(await start()).toEqual({ ...first, found: true });
  await stopEmbeddedPostgres(directory);
  const second = await start();
  expect(second).toMatchObject({ found: false, databaseUrl: first.databaseUrl });
  expect(await query(second.databaseUrl, 'select answer from kept')).toEqual([{ answer: 42 }]);
});

it('the embedded PostgreSQL survives a killed command with its process group', async () => {
  copyInitialised(directory);
  const program = `
      import { startEmbeddedPostgres } from ${JSON.stringify(compiledModule('src/dev/postgres.ts'))};
      const server = await startEmbeddedPostgres({ directory: ${JSON.stringify(directory)}, durable: false });
      console.log(JSON.stringify(server));
      setInterval(() => undefined, 1000);`;
  const child = spawn(process.execPath, ['--input-type=module', '-e', program], {
    detached: true,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const started = await new Promise<string>((resolve) =>
    child.stdout.once('data', (data: Buffer) => resolve(data.toString())),
  );
  process.kill(-child.pid!, 'SIGKILL');
  await new Promise((resolve) => child.once('exit', resolve));
  expect(await start()).toEqual({ ...(JSON.parse(started) as object), found: true });
});

it('the embedded PostgreSQL is found without its state file', async () => {
  const first = await startInitialised();
  rmSync(join(directory, 'server.json'));
  expect(await start()).toEqual({ ...first, found: true });
});

it('the embedded PostgreSQL recovers after a kill of the server', async () => {
  const first = await startInitialised({ durable: true });
  await query(first.databaseUrl, 'create table kept as select 42 as answer');
  process.kill(first.pid, 'SIGKILL');
  const second = await start();
  expect(second.found).toBe(false);
  expect(await query(second.databaseUrl, 'select answer from kept')).toEqual([{ answer: 42 }]);
});

it('the embedded PostgreSQL replaces a server that does not answer', { timeout: 40_000 }, async () => {
  const first = await startInitialised();
  process.kill(first.pid, 'SIGSTOP');
  const second = await start();
  expect(second.found).toBe(false);
  expect(identityOf(first.pid)).toBeUndefined();
});

it('the embedded PostgreSQL ignores a lock file that names a process of another program', async () => {
  const first = await startInitialised();
  await stopEmbeddedPostgres(directory);
  const lock = join(directory, 'data', 'postmaster.pid');
  writeFileSync(lock, `${process.pid}\n${join(directory, 'data')}\n1\n${first.port}\n\n127.0.0.1\n\nready\n`);
  expect((await start()).found).toBe(false);
});

it('the embedded PostgreSQL names a port that is in use', async () => {
  await expect(startInitialised({ port: await takenPort() })).rejects.toMatchObject({
    type: 'port.taken',
    where: 'POSTGRES_PORT',
    exitCode: 2,
  });
});

it('the embedded PostgreSQL names a broken data directory, and changes nothing in it', async () => {
  await startInitialised();
  await stopEmbeddedPostgres(directory);
  truncateSync(join(directory, 'data', 'global', 'pg_control'), 10);
  await expect(start()).rejects.toMatchObject({
    type: 'postgres.data-directory',
    where: join(directory, 'data'),
  });
  expect(existsSync(join(directory, 'data', 'PG_VERSION'))).toBe(true);
});

it('the embedded PostgreSQL starts again after an interrupted first start', async () => {
  mkdirSync(join(directory, 'data.new'), { recursive: true });
  writeFileSync(join(directory, 'data.new', 'PG_VERSION'), '18\n');
  expect((await start()).found).toBe(false);
});

it.runIf(asRoot)(
  'the embedded PostgreSQL runs as root below directories that are closed to other users',
  async () => {
    const closed = join(home, 'closed');
    mkdirSync(closed, { mode: 0o700 });
    chmodSync(home, 0o700);
    directory = join(closed, 'clone', '.enrich', 'postgres');
    const server = await start();
    expect(await query(server.databaseUrl, 'select 1 as one')).toEqual([{ one: 1 }]);
    expect(readFileSync(`/proc/${server.pid}/status`, 'utf8')).not.toMatch(/^Uid:\s+0/m);
  },
);

it.runIf(asRoot)('the embedded PostgreSQL reports a full disk', async () => {
  mkdirSync(directory);
  if (spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=20m', 'tmpfs', directory]).status !== 0) return;
  try {
    await expect(start()).rejects.toMatchObject({ type: 'disk.full', where: directory });
  } finally {
    execFileSync('umount', [directory]);
  }
});
