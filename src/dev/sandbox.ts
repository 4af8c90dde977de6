import { randomBytes } from 'node:crypto';
import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { ServiceSettings } from '../config.ts';
import { Problem } from '../domain/problem.ts';
import { findServer, startServer, stopServer, type ServerDefinition } from './detached-server.ts';
import { choosePort } from './ports.ts';

export interface EmbeddedSandboxOptions {
  /** Holds its record, its key and its bill; made where it is missing. */
  readonly directory: string;
  /** 0, the default: a free one. */
  readonly port?: number;
  /** As `RATE_LIMITS` would be written: the plan that a new sandbox is on. */
  readonly rateLimits: string;
  readonly onStep?: (text: string) => void;
}

const answerMilliseconds = 2_000;

/**
 * Starts the sandbox of a directory, or finds the one that runs there. It is a process of its own, so that a killed command
 * takes neither the service nor its bill with it. One caller at a time for a directory.
 *
 * @returns how to call it
 * @throws Problem `port.taken`, `sandbox.start`
 */
export async function startEmbeddedSandbox(
  options: EmbeddedSandboxOptions,
): Promise<Pick<ServiceSettings, 'baseUrl' | 'credential'>> {
  const { directory, onStep = () => undefined } = options;
  const definition = defineServer(directory, options.port ?? 0, options.rateLimits);
  const server = (await findServer(definition, onStep)) ?? (await startServer(definition));
  return { baseUrl: baseUrlOf(server.port), credential: { kind: 'api-key', value: keyOf(directory) } };
}

/** Stops the sandbox of a directory. Nothing happens where none runs. */
export async function stopEmbeddedSandbox(directory: string): Promise<void> {
  await stopServer(defineServer(directory, 0, ''));
}

function defineServer(directory: string, fixedPort: number, rateLimits: string): ServerDefinition {
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
        program(),
        'sandbox',
        `--port=${port}`,
        `--rate-limits=${rateLimits}`,
        `--state-directory=${join(directory, 'state')}`,
        `--api-key-file=${keyFile(directory)}`,
      ],
      environment: { PATH: process.env['PATH'], HOME: process.env['HOME'] },
    }),
    probe: async ({ port }) => ((await isHealthy(port, keyOf(directory))) ? 'ready' : 'starting'),
    explain: (log, { ended, ports }) => explain(log, ended, ports.port, directory),
  };
}

/** The compiled command line: Node runs no TypeScript, so a source tree needs its build. */
function program(): string {
  const compiled = fileURLToPath(new URL('../cli/main.js', import.meta.url));
  return existsSync(compiled)
    ? compiled
    : fileURLToPath(new URL('../../dist/src/cli/main.js', import.meta.url));
}

function baseUrlOf(port: number): string {
  return `http://127.0.0.1:${port}/api/v1`;
}

function keyFile(directory: string): string {
  return join(directory, 'api-key');
}

/** Made at random: a key that somebody has set for the real service is never shown to the sandbox. */
function keyOf(directory: string): string {
  if (!existsSync(keyFile(directory))) {
    mkdirSync(directory, { recursive: true, mode: 0o700 });
    writeFileSync(keyFile(directory), `${randomBytes(18).toString('base64url')}\n`, { mode: 0o600 });
    chmodSync(keyFile(directory), 0o600);
  }
  return readFileSync(keyFile(directory), 'utf8').trim();
}

async function isHealthy(port: number, key: string): Promise<boolean> {
  try {
    const answer = await fetch(`${baseUrlOf(port)}/auth/health`, {
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
    return new Problem('port.taken', `port ${port} is taken: the sandbox cannot listen on it`, {
      where: 'SANDBOX_PORT',
      next: 'end the program that holds it, or unset SANDBOX_PORT to use a free one',
    });
  }
  return new Problem('sandbox.start', `the sandbox did not start (${ended}): ${lastLine}`, {
    where: join(directory, 'server.log'),
    next: 'read that log, run npm run build, or set ENRICHMENT_BASE_URL to a service of yours',
  });
}
