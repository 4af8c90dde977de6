import { spawn, type ChildProcess } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { readConfig } from '../../../src/config/settings.ts';
import { runningRecord, stopServer } from '../../../src/dev/server.ts';
import { acquireStack } from '../../../src/dev/stack.ts';
import { initialisedPostgres } from '../../helpers/servers/initialised-postgres.ts';
import { compiledModule } from '../../helpers/system/compiled.ts';
import { executeAt } from '../../helpers/database/global-setup.ts';

const copyInitialised = await initialisedPostgres();
let home: string;
let children: ChildProcess[];

beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'enrich-stack-'));
  children = [];
});

afterEach(async () => {
  for (const child of children) child.kill('SIGKILL');
  await stopServer(directories().postgres);
  rmSync(home, { recursive: true, force: true });
});

interface Holder {
  readonly databaseUrl: string;
  /** Ends the command normally or by a signal. @returns the exit code, after the command has ended */
  end(signal?: NodeJS.Signals): Promise<number | null>;
}

/** Another command that holds the stack until it is told to end. */
async function holdStack(): Promise<Holder> {
  const program = `
    import { readConfig } from ${JSON.stringify(compiledModule('src/config/settings.ts'))};
    import { acquireStack } from ${JSON.stringify(compiledModule('src/dev/stack.ts'))};
    const config = readConfig({ ENRICH_DATA_DIR: ${JSON.stringify(home)} });
    const stack = await acquireStack(config, { postgres: true }, () => {});
    console.log(stack.databaseUrl);
    process.stdin.once('end', async () => { await stack.release(); process.exit(0); }).resume();`;
  const child = spawn(process.execPath, ['--input-type=module', '-e', program], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  children.push(child);
  const gone = new Promise<number | null>((resolve) => child.once('exit', resolve));
  const databaseUrl = await new Promise<string>((resolve, reject) => {
    child.stdout.once('data', (data: Buffer) => resolve(data.toString().trim()));
    child.once('exit', () => reject(new Error('ended before it had the stack')));
  });
  return {
    databaseUrl,
    end: (signal) => {
      if (signal) child.kill(signal);
      else child.stdin.end();
      return gone;
    },
  };
}

const directories = () => readConfig({ ENRICH_DATA_DIR: home }).embedded.directories;
const runningPostgres = () => runningRecord(directories().postgres);

async function hold() {
  return acquireStack(readConfig({ ENRICH_DATA_DIR: home }), { postgres: true }, () => undefined);
}

/** Copies an initialised data directory, so that the embedded PostgreSQL starts faster. */
function initialise(): void {
  copyInitialised(directories().postgres);
}

it('several commands share one embedded stack: the first starts it and the last stops it', async () => {
  const [first, last] = await Promise.all([holdStack(), holdStack()]);
  expect(last.databaseUrl).toBe(first.databaseUrl);
  await first.end();
  expect(runningPostgres()).toBeDefined();
  await last.end();
  expect(runningPostgres()).toBeUndefined();
});

it('the next command replaces the servers of a killed command, keeps the data and stops the servers', async () => {
  initialise();
  const killed = await holdStack();
  await executeAt(killed.databaseUrl, 'create table kept as select 42 as answer');
  await killed.end('SIGKILL');
  const left = runningPostgres()!;
  const stack = await hold();
  expect(stack.databaseUrl).toBe(killed.databaseUrl);
  expect(await executeAt(stack.databaseUrl, 'select answer from kept')).toEqual([{ answer: 42 }]);
  expect(runningPostgres()!.pid).not.toBe(left.pid);
  await stack.release();
  expect(runningPostgres()).toBeUndefined();
});

it('the embedded stack is released on SIGTERM', async () => {
  initialise();
  const holder = await holdStack();
  expect(await holder.end('SIGTERM')).toBe(143);
  expect(runningPostgres()).toBeUndefined();
});

it('the embedded stack stops its other servers if one cannot start', async () => {
  initialise();
  const config = readConfig({ ENRICH_DATA_DIR: home, TEMPORAL_CLI_PATH: '/nowhere/temporal' });
  const acquired = acquireStack(config, { postgres: true, temporal: true }, () => undefined);
  await expect(acquired).rejects.toMatchObject({ type: 'temporal.cli', where: 'TEMPORAL_CLI_PATH' });
  expect(runningPostgres()).toBeUndefined();
  expect(readdirSync(directories().users)).toEqual([]);
});

it('watch() of the embedded stack reports that the embedded PostgreSQL was killed, with exit code 1', async () => {
  initialise();
  const stack = await hold();
  const lost = new Promise((resolve) => stack.watch(resolve));
  process.kill(runningPostgres()!.pid, 'SIGKILL');
  expect(await lost).toMatchObject({
    type: 'server.lost',
    message: 'the embedded PostgreSQL ended',
    next: expect.stringContaining('run the same command again'),
    exitCode: 1,
  });
  await stack.release();
});

it('the embedded stack starts no server if the settings name other servers, and returns their settings', async () => {
  const settings = {
    ENRICH_DATA_DIR: join(home, 'unused'),
    DATABASE_URL: 'postgres://somebody@elsewhere/warehouse',
    TEMPORAL_ADDRESS: 'temporal.elsewhere:7233',
    ENRICHMENT_BASE_URL: 'https://service.elsewhere/api/v1',
    ENRICHMENT_API_KEY: 'key',
  };
  const needs = { postgres: true, temporal: true, sandbox: true };
  const stack = await acquireStack(readConfig(settings), needs, () => undefined);
  expect(stack).toMatchObject({
    databaseUrl: settings.DATABASE_URL,
    temporal: { address: settings.TEMPORAL_ADDRESS, namespace: 'default', embedded: false },
    service: { baseUrl: settings.ENRICHMENT_BASE_URL, credential: { kind: 'api-key', value: 'key' } },
    embedded: { postgres: false, temporal: false, sandbox: false },
  });
  await stack.release();
  expect(existsSync(settings.ENRICH_DATA_DIR)).toBe(false);
});
