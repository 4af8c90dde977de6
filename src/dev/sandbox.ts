import { randomBytes } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { makeFolder } from '../files/make-folder.ts';
import { projectFile } from '../files/project-file.ts';
import type { Credential, ServiceSettings } from '../config/settings.ts';
import { portTaken } from '../domain/port-taken.ts';
import { Problem } from '../domain/problem.ts';
import { findServer, startServer, stopServer, type ServerDefinition } from './detached-server.ts';
import { choosePort } from './ports.ts';

export interface EmbeddedSandboxOptions {
  /** Folder of the record, the key and the bill; made if it is missing. */
  readonly directory: string;
  /** 0 (default): a free port. */
  readonly port?: number;
  /** Rate limits of a new sandbox, in the format of `RATE_LIMITS`. */
  readonly rateLimits: string;
  /** Start time of the clock of a new sandbox, as ISO 8601; undefined: now. */
  readonly clock?: string | undefined;
  /** The credential that callers get: the key (default), or access tokens that expire and are read again. */
  readonly credential?: 'key' | 'token';
  readonly onStep?: (text: string) => void;
}

const answerMilliseconds = 2_000;

/**
 * Starts the sandbox of a folder, or finds the running one. The sandbox is a process of its own, so that the end of a
 * killed command ends neither the service nor its bill. For one folder, only one caller at a time is allowed.
 *
 * @returns how to call the sandbox
 * @throws Problem `port.taken`, `sandbox.start`
 */
export async function startEmbeddedSandbox(
  options: EmbeddedSandboxOptions,
): Promise<Pick<ServiceSettings, 'baseUrl' | 'credential'>> {
  const { directory, onStep = () => undefined } = options;
  const definition = defineServer(directory, options);
  const server = (await findServer(definition, onStep)) ?? (await startServer(definition));
  const credential: Credential =
    options.credential === 'token'
      ? { kind: 'access-token', command: tokenCommand(server.port) }
      : { kind: 'api-key', value: keyOf(directory) };
  return { baseUrl: baseUrlOf(server.port), credential };
}

/** Stops the sandbox of a folder. Does nothing if none runs. */
export async function stopEmbeddedSandbox(directory: string): Promise<void> {
  await stopServer(defineServer(directory, { rateLimits: 'unlimited' }));
}

/** A run of some hundred people has to read its token again. */
const callsPerToken = 20;

function defineServer(
  directory: string,
  { port: fixedPort = 0, rateLimits, clock }: Omit<EmbeddedSandboxOptions, 'directory'>,
): ServerDefinition {
  return {
    name: 'sandbox',
    directory,
    startSeconds: 30,
    stop: [
      ['SIGTERM', 5],
      ['SIGKILL', 5],
    ],
    portsAreFixed: fixedPort !== 0,
    choosePorts: async (previous) => ({ port: await choosePort(fixedPort, previous?.port) }),
    command: ({ port }) => ({
      command: process.execPath,
      arguments: [
        // Node does not run the TypeScript sources: the sandbox needs the build.
        projectFile('dist/cli/main.js'),
        'sandbox',
        `--port=${port}`,
        `--rate-limits=${rateLimits}`,
        `--state-directory=${join(directory, 'state')}`,
        `--api-key-file=${keyFile(directory)}`,
        `--token-calls=${callsPerToken}`,
        ...(clock === undefined ? [] : [`--clock=${clock}`]),
      ],
      environment: { PATH: process.env['PATH'], HOME: process.env['HOME'] },
    }),
    probe: async ({ port }) => ((await isReady(port, keyOf(directory))) ? 'ready' : 'starting'),
    explain: (log, { ended, ports }) => explain(log, ended, ports.port, directory),
  };
}

/** Gets a new access token, as a program that refreshes tokens would. */
function tokenCommand(port: number): string {
  const address = `http://127.0.0.1:${port}/sandbox/token`;
  const script = `fetch('${address}', { method: 'POST' }).then(async (answer) => console.log(await answer.text()))`;
  return `"${process.execPath}" -e "${script}"`;
}

function baseUrlOf(port: number): string {
  return `http://127.0.0.1:${port}/api/v1`;
}

function keyFile(directory: string): string {
  return join(directory, 'api-key');
}

/** Random, so that the sandbox never gets the key of the real service. */
function keyOf(directory: string): string {
  if (!existsSync(keyFile(directory))) {
    makeFolder(directory);
    writeFileSync(keyFile(directory), `${randomBytes(18).toString('base64url')}\n`, { mode: 0o600 });
  }
  return readFileSync(keyFile(directory), 'utf8').trim();
}

/** Whether the sandbox with this key answers. Uses a route without faults, because a scenario can delay every call. */
async function isReady(port: number, key: string): Promise<boolean> {
  try {
    const answer = await fetch(`http://127.0.0.1:${port}/sandbox/ready`, {
      headers: { 'x-api-key': key },
      signal: AbortSignal.timeout(answerMilliseconds),
    });
    await answer.body?.cancel();
    return answer.ok;
  } catch {
    return false;
  }
}

function explain(log: string, ended: string, port: number, directory: string): Problem {
  const lastLine = log.trim().split('\n').at(-1) ?? '';
  if (/EADDRINUSE|is taken/.test(log)) {
    return portTaken(port, 'the sandbox', 'SANDBOX_PORT', 'unset SANDBOX_PORT to use a free one');
  }
  return new Problem('sandbox.start', `the sandbox did not start (${ended}): ${lastLine}`, {
    where: join(directory, 'server.log'),
    next: 'read that log, run npm run build, or set ENRICHMENT_BASE_URL to a service of yours',
  });
}
