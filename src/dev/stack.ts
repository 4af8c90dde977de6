import type { Config, ServiceSettings } from '../config/settings.ts';
import { Problem } from '../domain/problem.ts';
import { asUnusable } from '../files/make-folder.ts';
import { formatRateLimits } from '../domain/rates/rate-limit.ts';
import { onFirstInterruption } from './interruption.ts';
import { startEmbeddedPostgres } from './postgres.ts';
import { announce, exclusively, isRunning, othersPresent, withdraw } from './presence.ts';
import { startEmbeddedSandbox } from './sandbox.ts';
import { readRecord, serverNames, stopServer, type ServerType } from './server.ts';
import { startEmbeddedTemporal } from './temporal.ts';
import type { TemporalAddress } from '../temporal/connection.ts';

/** Servers that a command needs. `in memory` starts Temporal without a database file, for tests. */
export interface StackNeeds {
  readonly postgres?: boolean;
  readonly temporal?: boolean | 'in memory';
  readonly sandbox?: boolean;
}

export interface Stack {
  /** The URL contains a password, so it must not be printed. */
  readonly databaseUrl: string;
  readonly temporal: TemporalAddress;
  readonly service: Pick<ServiceSettings, 'baseUrl' | 'credential'>;
  readonly embedded: Readonly<Record<ServerType, boolean>>;
  /** Calls `onLost` once if one of the embedded servers ends. */
  watch(onLost: (problem: Problem) => void): void;
  /** Releases the servers for this command. The last command stops the embedded ones. */
  release(): Promise<void>;
}

type Directories = Config['embedded']['directories'];

/** How long a command waits for another command to start servers. A first start can download the Temporal CLI. */
const waitSeconds = 5 * 60;

/** Gets the servers that a command needs. Embedded servers are shared; those of a killed command are replaced. */
export async function acquireStack(
  config: Config,
  needs: StackNeeds,
  onStep: (text: string) => void,
): Promise<Stack> {
  const { dataDirectory, directories } = config.embedded;
  const embedded = {
    postgres: needs.postgres === true && config.databaseUrl === undefined,
    temporal: (needs.temporal ?? false) !== false && config.temporalAddress === undefined,
    sandbox: needs.sandbox === true && config.service.baseUrl === undefined,
  };
  const { temporalAddress, temporalUiUrl, service } = config;
  const configured: Partial<StackParts> = {
    ...(config.databaseUrl !== undefined && { databaseUrl: config.databaseUrl }),
    ...(temporalAddress && { temporal: await configuredTemporal(temporalAddress, temporalUiUrl) }),
    ...(service.baseUrl && { service: { baseUrl: service.baseUrl, credential: service.credential } }),
  };
  const stackOf = (parts: Partial<StackParts>, ways: Pick<Stack, 'release' | 'watch'>): Stack =>
    ({ embedded, ...parts, ...configured, ...ways }) as Stack;
  if (!Object.values(embedded).includes(true))
    return stackOf({}, { release: () => Promise.resolve(), watch: () => undefined });

  let lease: string;
  try {
    lease = announce(directories.users);
  } catch (error) {
    throw asUnusable(error, dataDirectory);
  }
  let watching: NodeJS.Timeout | undefined;
  let released: Promise<void> | undefined;
  const release = () => {
    clearInterval(watching);
    released ??= exclusively(directories.changing, waitSeconds, async () => {
      withdraw(directories.users, lease);
      if (othersPresent(directories.users).length === 0) await stopServers(directories);
    }).finally(stopListening);
    return released;
  };
  /** Ends a command when one of its servers ends: clients and workers would wait forever for the server. */
  const watch = (onLost: (problem: Problem) => void): void => {
    const parts = (Object.keys(serverNames) as ServerType[]).filter((part) => embedded[part]);
    const servers = parts.map((part) => ({ part, record: readRecord(directories[part]) }));
    watching = setInterval(() => {
      const lost = servers.find(({ record }) => record === undefined || !isRunning(record));
      if (lost === undefined) return;
      clearInterval(watching);
      const next = 'run the same command again: it starts the server and continues; nothing is lost';
      const where = directories[lost.part];
      onLost(new Problem('server.lost', `${serverNames[lost.part]} ended`, { where, next }));
    }, 1_000).unref();
  };
  const starting = exclusively(directories.changing, waitSeconds, async () => {
    // A killed command left its servers behind, and these may hang.
    if (othersPresent(directories.users, lease).length === 0) await stopServers(directories);
    return startServers(config, embedded, needs.temporal !== 'in memory', onStep);
  });
  const stopListening = onFirstInterruption((exitCode) => {
    onStep('\nstopping; you can run the same command again');
    void starting
      .catch(() => undefined)
      .then(release)
      .finally(() => process.exit(exitCode));
  });
  try {
    return stackOf(await starting, { release, watch });
  } catch (error) {
    await release();
    throw error;
  }
}

/** What the servers of a stack provide. A part is missing if the command does not need its server. */
type StackParts = Pick<Stack, 'databaseUrl' | 'temporal' | 'service'>;

/** Starts the wanted servers together. An error is thrown after all starts have succeeded or failed. */
async function startServers(
  { rateLimits, embedded }: Config,
  wanted: Stack['embedded'],
  durable: boolean,
  onStep: (text: string) => void,
): Promise<Partial<StackParts>> {
  const { directories, ports, temporalCliPath, cacheDirectory } = embedded;
  const postgres = async () => {
    const server = await startEmbeddedPostgres({
      directory: directories.postgres,
      port: ports.postgres,
      onStep,
    });
    return { databaseUrl: server.databaseUrl };
  };
  const temporal = async () => ({
    temporal: await startEmbeddedTemporal({
      directory: directories.temporal,
      cli: { temporalCliPath, cacheDirectory },
      port: ports.temporal,
      uiPort: ports.temporalUi,
      durable,
      onStep,
    }),
  });
  const sandbox = async () => ({
    service: await startEmbeddedSandbox({
      directory: directories.sandbox,
      port: ports.sandbox,
      rateLimits: formatRateLimits(rateLimits),
      clock: embedded.sandboxClock,
    }),
  });
  const all: Record<ServerType, () => Promise<Partial<StackParts>>> = { postgres, temporal, sandbox };
  const starts = (Object.keys(all) as ServerType[]).filter((part) => wanted[part]).map((part) => all[part]());
  // Every start must settle before servers are stopped. A server that is still starting would not be stopped.
  await Promise.allSettled(starts);
  return Object.assign({}, ...(await Promise.all(starts))) as Partial<StackParts>;
}

async function stopServers(directories: Directories): Promise<void> {
  await Promise.all((Object.keys(serverNames) as ServerType[]).map((part) => stopServer(directories[part])));
}

/** Reads the address of a configured Temporal server. The namespace is from Temporal's own environment variables. */
export async function configuredTemporal(
  address: string,
  uiUrl: string | undefined,
): Promise<TemporalAddress> {
  const { loadClientConnectConfig } = await import('@temporalio/envconfig');
  return {
    address,
    namespace: loadClientConnectConfig().namespace ?? 'default',
    uiUrl,
    embedded: false,
  };
}
