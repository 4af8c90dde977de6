import { join } from 'node:path';
import { projectFile } from '../files/project-file.ts';
import type { ServiceSettings } from '../config/settings.ts';
import { provideServer, type ServerDefinition } from './server.ts';

export interface EmbeddedSandboxOptions {
  readonly directory: string;
  readonly port?: number;
  readonly rateLimits: string;
  readonly clock?: string | undefined;
}

/** API key of the sandbox. It needs no secrecy, because the sandbox has only invented people. */
const key = 'sandbox-key';

/** Starts the sandbox of a folder, or finds the running one. The sandbox outlives this process. */
export async function startEmbeddedSandbox(
  options: EmbeddedSandboxOptions,
): Promise<Pick<ServiceSettings, 'baseUrl' | 'credential'>> {
  const { port } = await provideServer(defineServer(options));
  return { baseUrl: `http://127.0.0.1:${port}/api/v1`, credential: { kind: 'api-key', value: key } };
}

function defineServer({ directory, port = 0, rateLimits, clock }: EmbeddedSandboxOptions): ServerDefinition {
  return {
    type: 'sandbox',
    directory,
    startSeconds: 30,
    portSettings: 'SANDBOX_PORT',
    fixedPorts: { port },
    command: async (ports) => ({
      command: process.execPath,
      arguments: [
        // The sandbox runs the built file, because Node.js 20 does not run the TypeScript sources.
        projectFile('dist/cli/main.js'),
        'sandbox',
        `--port=${ports.port}`,
        `--rate-limits=${rateLimits}`,
        `--state-directory=${join(directory, 'state')}`,
        `--api-key=${key}`,
        ...(clock === undefined ? [] : [`--clock=${clock}`]),
      ],
      environment: { PATH: process.env['PATH'], HOME: process.env['HOME'] },
    }),
    isReady: (ports) => isReady(ports.port),
    otherwise: 'run npm run build; or set ENRICHMENT_BASE_URL to a service of yours',
  };
}

/** True if the sandbox answers. The check uses a route without faults, because a scenario can delay other calls. */
async function isReady(port: number): Promise<boolean> {
  try {
    const signal = AbortSignal.timeout(2_000);
    const answer = await fetch(`http://127.0.0.1:${port}/sandbox/bill`, { signal });
    await answer.body?.cancel();
    return answer.ok;
  } catch {
    return false;
  }
}
