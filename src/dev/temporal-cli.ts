import { execFile } from 'node:child_process';
import { chmodSync, copyFileSync, mkdtempSync, readdirSync, renameSync, rmSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { commandEnvironment } from '../config/command-environment.ts';
import { makeFolder } from '../files/make-folder.ts';
import { Problem, UsageProblem } from '../domain/problem.ts';
import { findProgram } from './find-program.ts';

const run = promisify(execFile);

/** Later versions have a `replace` line in their module file, which `go install` refuses. */
export const temporalCliVersion = '1.5.1';
const goPackage = 'github.com/temporalio/cli/cmd/temporal';

/** Where to look for the Temporal CLI. */
export interface TemporalCliSettings {
  readonly temporalCliPath: string | undefined;
  readonly cacheDirectory: string;
  /** Search path for `temporal` and `go`; default: the PATH of this process. */
  readonly searchPath?: string;
}

export interface TemporalCli {
  readonly path: string;
  /** How the CLI was found. */
  readonly origin: 'TEMPORAL_CLI_PATH' | 'PATH' | 'cache' | 'download' | 'go install';
  /** As it names itself. */
  readonly version: string;
}

/**
 * Finds the Temporal CLI on this machine, without a download.
 *
 * @returns undefined if there is none
 * @throws Problem `temporal.cli` if TEMPORAL_CLI_PATH names something else
 */
export async function findTemporalCli(settings: TemporalCliSettings): Promise<TemporalCli | undefined> {
  const configured = settings.temporalCliPath;
  if (configured !== undefined) {
    const version = await versionOf(configured);
    if (version !== undefined) return { path: configured, origin: 'TEMPORAL_CLI_PATH', version };
    throw new UsageProblem('temporal.cli', `${configured} is not a Temporal CLI that runs on this machine`, {
      where: 'TEMPORAL_CLI_PATH',
      next: 'correct the path, or unset it',
    });
  }
  for (const [path, origin] of [
    [findProgram('temporal', settings.searchPath), 'PATH'],
    [cachedFile(settings), 'cache'],
  ] as const) {
    const version = path === undefined ? undefined : await versionOf(path);
    if (path !== undefined && version !== undefined) return { path, origin, version };
  }
  return undefined;
}

/**
 * Finds the Temporal CLI on this machine. If there is none, downloads it into the cache by the SDK, or else builds it
 * with `go install`, which takes minutes.
 *
 * @param onStep called with each step, as text for a terminal
 * @throws Problem `temporal.cli` that lists all tries
 */
export async function ensureTemporalCli(
  settings: TemporalCliSettings,
  onStep: (text: string) => void,
): Promise<TemporalCli> {
  const found = await findTemporalCli(settings);
  if (found) return found;
  const failures = [
    'TEMPORAL_CLI_PATH is not set',
    'no temporal on the PATH',
    `none in ${cachedFile(settings)}`,
  ];
  for (const [origin, fetch] of [
    ['download', download],
    ['go install', goInstall],
  ] as const) {
    try {
      await intoCache(settings, (directory) => fetch(directory, settings, onStep));
      const path = cachedFile(settings);
      const version = await versionOf(path);
      if (version !== undefined) return { path, origin, version };
      failures.push(`${origin}: ${path} does not run on this machine`);
    } catch (error) {
      failures.push(`${origin}: ${error instanceof Error ? firstLines(error.message) : String(error)}`);
    }
  }
  throw new Problem(
    'temporal.cli',
    `the embedded Temporal server needs the Temporal CLI: ${failures.join('; ')}`,
    {
      where: 'Temporal CLI',
      next:
        'install the Temporal CLI (https://docs.temporal.io/cli) or Go and try again, or set ' +
        'TEMPORAL_ADDRESS to a Temporal server of yours',
    },
  );
}

function cachedFile(settings: TemporalCliSettings): string {
  return join(settings.cacheDirectory, `temporal-cli-${temporalCliVersion}`, 'temporal');
}

/**
 * Downloads under another name and renames, so that the cache has only complete files even if several processes
 * download.
 */
async function intoCache(
  settings: TemporalCliSettings,
  fetch: (directory: string) => Promise<string>,
): Promise<void> {
  makeFolder(settings.cacheDirectory);
  const directory = mkdtempSync(join(settings.cacheDirectory, 'fetching-'));
  try {
    const file = await fetch(directory);
    chmodSync(file, 0o755);
    makeFolder(dirname(cachedFile(settings)));
    renameSync(file, cachedFile(settings));
  } finally {
    // Go leaves read-only downloads for their owner. Here it leaves none, but an incomplete file can be left.
    rmSync(directory, { recursive: true, force: true });
  }
}

/** The SDK downloads the CLI only to start a server, so a server is started and stopped. */
async function download(
  directory: string,
  _settings: TemporalCliSettings,
  onStep: (text: string) => void,
): Promise<string> {
  onStep(`Downloading the Temporal CLI ${temporalCliVersion} (about 50 MB)`);
  const { TestWorkflowEnvironment } = await import('@temporalio/testing');
  const environment = await TestWorkflowEnvironment.createLocal({
    server: {
      executable: { type: 'cached-download', version: `v${temporalCliVersion}`, downloadDir: directory },
    },
  });
  await environment.teardown();
  const file = readdirSync(directory)
    .map((name) => join(directory, name))
    .find((path) => statSync(path).isFile() && statSync(path).size > 1_000_000);
  if (file === undefined) throw new Error('the SDK left no file behind');
  const copy = join(directory, 'temporal');
  if (file !== copy) copyFileSync(file, copy);
  return copy;
}

async function goInstall(
  directory: string,
  settings: TemporalCliSettings,
  onStep: (text: string) => void,
): Promise<string> {
  const go = findProgram('go', settings.searchPath);
  if (go === undefined) throw new Error('no go on the PATH');
  onStep(`Building the Temporal CLI ${temporalCliVersion} with Go, once (about 4 minutes on two cores)`);
  const { GOOS: _os, GOARCH: _architecture, ...environment } = commandEnvironment();
  let minutes = 0;
  const progress = setInterval(
    () => onStep(`Still building the Temporal CLI (${(minutes += 1)} min)`),
    60_000,
  );
  await run(go, ['install', '-ldflags', '-s -w', `${goPackage}@v${temporalCliVersion}`], {
    cwd: directory,
    env: { ...environment, GOBIN: directory, GOFLAGS: '' },
    maxBuffer: 64 * 1024 * 1024,
  }).finally(() => clearInterval(progress));
  return join(directory, 'temporal');
}

async function versionOf(path: string): Promise<string | undefined> {
  try {
    const { stdout } = await run(path, ['--version'], { timeout: 20_000, env: commandEnvironment() });
    return /^temporal version .+$/m.exec(stdout)?.[0].replace('temporal version ', '');
  } catch {
    return undefined;
  }
}

function firstLines(text: string): string {
  return text.trim().split('\n').slice(0, 2).join(' ').slice(0, 300);
}
