import type { Config, ServiceSettings } from '../config/settings.ts';
import { searchAttributes } from '../contract/temporal-names.ts';
import { Problem } from '../domain/problem.ts';
import { asUnusable } from '../files/make-folder.ts';
import { formatRateLimits } from '../domain/rates/rate-limit.ts';
import { onFirstInterruption } from './interruption.ts';
import { startEmbeddedPostgres, stopEmbeddedPostgres } from './postgres.ts';
import { announce, exclusively, othersPresent, withdraw, type Presence } from './presence.ts';
import { startEmbeddedSandbox, stopEmbeddedSandbox } from './sandbox.ts';
import { startEmbeddedTemporal, stopEmbeddedTemporal } from './temporal.ts';
import { watchServers, type WatchedServer } from './watch-servers.ts';
import type { TemporalAddress } from '../temporal/connection.ts';

/** The components that a command needs. */
export interface StackNeeds {
  readonly postgres?: boolean;
  readonly temporal?: boolean;
  readonly sandbox?: boolean;
}

/** The servers of a command. Reading a part that is neither configured nor needed is a bug and throws. */
export interface Stack {
  /** Contains a password, so it must not be printed. */
  readonly databaseUrl: string;
  readonly temporal: TemporalAddress;
  /** The settings of the service, or of the sandbox with its credential. */
  readonly service: Pick<ServiceSettings, 'baseUrl' | 'credential'>;
  /** The parts that run embedded. */
  readonly embedded: { readonly postgres: boolean; readonly temporal: boolean; readonly sandbox: boolean };
  /**
   * Watches the embedded servers, and restarts a server that ends before the release.
   *
   * @param onLost called once if a server cannot be restarted at its address
   */
  watch(onLost: (problem: Problem) => void): void;
  /** The last command that releases the stack stops the embedded servers. A second call does nothing. */
  release(): Promise<void>;
}

type Directories = Config['embedded']['directories'];

/** The first start can build the Temporal CLI, and other commands wait for it. */
const waitSeconds = 15 * 60;

/**
 * Gets the servers that a command needs: configured servers, and embedded servers in place of components that are not
 * configured. Simultaneous commands share the embedded servers. A command also uses servers that a killed command has
 * left.
 *
 * A signal ends a command that does not handle the signal only after the stack is released.
 *
 * @param onStep called with each step, as text for a terminal
 * @throws Problem of the component that cannot start; the components that were started before are stopped again
 */
export async function acquireStack(
  config: Config,
  needs: StackNeeds,
  onStep: (text: string) => void,
): Promise<Stack> {
  const { directories } = config.embedded;
  const embedded = {
    postgres: needs.postgres === true && config.databaseUrl === undefined,
    temporal: needs.temporal === true && config.temporalAddress === undefined,
    sandbox: needs.sandbox === true && config.service.baseUrl === undefined,
  };
  if (!embedded.postgres && !embedded.temporal && !embedded.sandbox) {
    const nothing = { release: () => Promise.resolve(), watch: () => undefined };
    return stackOf(config, embedded, await configuredParts(config), nothing);
  }

  const lease = leaseOf(config.embedded.dataDirectory, directories.users);
  let released: Promise<void> | undefined;
  const watching = new AbortController();
  const release = () => {
    watching.abort();
    released ??= exclusively(directories.changing, waitSeconds, async () => {
      withdraw(directories.users, lease);
      if (othersPresent(directories.users).length === 0) await stopServers(directories);
    }).finally(stopListening);
    return released;
  };
  const starting = exclusively(directories.changing, waitSeconds, () =>
    startServers(config, embedded, directories, onStep),
  );
  const stopListening = onFirstInterruption((exitCode) => {
    onStep('\nstopping; you can run the same command again');
    void starting
      .catch(() => undefined)
      .then(release)
      .finally(() => process.exit(exitCode));
  });
  try {
    const started = await starting;
    const watch = (onLost: (problem: Problem) => void): void => {
      const { signal } = watching;
      const restart = (part: keyof Stack['embedded']): Promise<void> =>
        exclusively(directories.changing, waitSeconds, async () => {
          if (!signal.aborted) await startAgain(config, part, directories, started, onStep);
        });
      const servers = watchedServers(embedded, directories);
      void watchServers({ servers, restart, onLost, onStep, signal });
    };
    const parts = { ...started, ...(await configuredParts(config)) };
    return stackOf(config, embedded, parts, { release, watch });
  } catch (error) {
    await release();
    throw error;
  }
}

/**
 * The mark of this command, which is the first file that the command writes.
 *
 * @throws Problem `data-directory.unusable`
 */
function leaseOf(dataDirectory: string, users: string): Presence {
  try {
    return announce(users);
  } catch (error) {
    throw asUnusable(error, dataDirectory);
  }
}

interface StackParts {
  readonly databaseUrl?: string;
  readonly temporal?: TemporalAddress;
  readonly service?: Stack['service'];
}

async function startServers(
  config: Config,
  wanted: Stack['embedded'],
  directories: Directories,
  onStep: (text: string) => void,
): Promise<StackParts> {
  const { ports, temporalCliPath, cacheDirectory } = config.embedded;
  const starts: Promise<StackParts>[] = [];
  if (wanted.postgres) {
    const server = startEmbeddedPostgres({ directory: directories.postgres, port: ports.postgres, onStep });
    starts.push(server.then(({ databaseUrl }) => ({ databaseUrl })));
  }
  if (wanted.temporal) {
    const server = startEmbeddedTemporal({
      directory: directories.temporal,
      cli: { temporalCliPath, cacheDirectory },
      port: ports.temporal,
      uiPort: ports.temporalUi,
      searchAttributes,
      onStep,
    });
    starts.push(
      server.then(({ address, namespace, uiUrl }) => ({
        temporal: { address, namespace, uiUrl, embedded: true },
      })),
    );
  }
  if (wanted.sandbox) {
    const server = startEmbeddedSandbox({
      directory: directories.sandbox,
      port: ports.sandbox,
      rateLimits: formatRateLimits(config.rateLimits),
      ...config.embedded.sandbox,
      onStep,
    });
    starts.push(server.then((service) => ({ service })));
  }
  // All starts must settle before the servers are stopped: a server that is still starting would be missed.
  const parts: StackParts = {};
  for (const outcome of await Promise.allSettled(starts)) {
    if (outcome.status === 'rejected') throw outcome.reason;
    Object.assign(parts, outcome.value);
  }
  return parts;
}

/**
 * Restarts an embedded server.
 *
 * @throws Problem `server.moved` if the server has another address: the command cannot continue at another address
 */
async function startAgain(
  config: Config,
  part: keyof Stack['embedded'],
  directories: Directories,
  before: StackParts,
  onStep: (text: string) => void,
): Promise<void> {
  const only = { postgres: false, temporal: false, sandbox: false, [part]: true };
  const again = await startServers(config, only, directories, onStep);
  const addresses = ({ databaseUrl, temporal, service }: StackParts): unknown =>
    ({ postgres: databaseUrl, temporal: temporal?.address, sandbox: service?.baseUrl })[part];
  if (addresses(again) === addresses(before)) return;
  throw new Problem('server.moved', 'another program uses its port now', {
    where: directories[part],
    next: 'run the same command again: it uses another port; nothing is lost',
  });
}

function watchedServers(
  embedded: Stack['embedded'],
  directories: Directories,
): WatchedServer<keyof Stack['embedded']>[] {
  const names = { postgres: 'embedded PostgreSQL', temporal: 'Temporal dev server', sandbox: 'sandbox' };
  return (['postgres', 'temporal', 'sandbox'] as const)
    .filter((part) => embedded[part])
    .map((part) => ({ part, name: names[part], directory: directories[part] }));
}

async function stopServers(directories: Directories): Promise<void> {
  await Promise.all([
    stopEmbeddedSandbox(directories.sandbox),
    stopEmbeddedTemporal(directories.temporal),
    stopEmbeddedPostgres(directories.postgres),
  ]);
}

function stackOf(
  config: Config,
  embedded: Stack['embedded'],
  parts: StackParts,
  { release, watch }: Pick<Stack, 'release' | 'watch'>,
): Stack {
  const { baseUrl, credential } = config.service;
  const service = baseUrl === undefined ? parts.service : { baseUrl, credential };
  return {
    embedded,
    release,
    watch,
    get databaseUrl() {
      return present(config.databaseUrl ?? parts.databaseUrl, 'postgres');
    },
    get temporal() {
      return present(parts.temporal, 'temporal');
    },
    get service() {
      return present(service, 'sandbox');
    },
  };
}

function present<Part>(part: Part | undefined, name: keyof StackNeeds): Part {
  if (part === undefined) throw new Error(`this command did not say that it needs ${name}`);
  return part;
}

async function configuredParts(config: Config): Promise<StackParts> {
  if (config.temporalAddress === undefined) return {};
  return { temporal: await configuredTemporal(config.temporalAddress, config.temporalUiUrl) };
}

/** The namespace comes from Temporal's own environment configuration. */
export async function configuredTemporal(
  address: string,
  uiUrl: string | undefined,
): Promise<TemporalAddress> {
  // Loaded only here, because commands without a configured server do not need it.
  const { loadClientConnectConfig } = await import('@temporalio/envconfig');
  return {
    address,
    namespace: loadClientConnectConfig().namespace ?? 'default',
    uiUrl,
    embedded: false,
  };
}
