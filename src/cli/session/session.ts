import { existsSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Client } from '@temporalio/client';
import { readConfig, type Config, type SettingOverrides } from '../../config/settings.ts';
import { onFirstInterruption } from '../../dev/interruption.ts';
import { announce, withdraw } from '../../dev/presence.ts';
import { acquireStack, type Stack } from '../../dev/stack.ts';
import { Problem, UsageProblem } from '../../domain/problem.ts';
import { createLogger, type Logger } from '../../telemetry/log.ts';
import { openWarehouse, type Warehouse } from '../../db/database.ts';
import { isTransientDatabaseError, describeDatabaseFailure } from '../../db/postgres-errors.ts';
import { migrate, type Migrated } from '../../db/migrate.ts';
import type { RunningReceiver } from '../../late-results/receiver.ts';
import type { RunningWorker } from '../../worker.ts';
import { describeLogLine, isQuiet, printProgress, printNotice } from '../terminal/output.ts';
import type { EncryptingCodec } from '../../temporal/payload-codec.ts';
import type { ServedMetrics } from './servers.ts';

/** The open parts of a command. `temporal`, `work` and `metrics` start their part at the first call. */
export interface Session {
  readonly config: Config;
  readonly stack: Stack;
  readonly warehouse: Warehouse;
  readonly log: Logger;
  readonly migrated: Migrated;
  temporal(): Promise<Client>;
  work(): Promise<RunningWorker>;
  metrics(): Promise<ServedMetrics | undefined>;
  /** Address of this command's receiver. Undefined before `work` has started it, or without a receiver. */
  readonly receiver: () => { readonly host: string; readonly port: number } | undefined;
}

/** Servers that a command needs. `service` is true if the command, or its worker, calls the service. */
export interface SessionNeeds {
  readonly temporal: boolean;
  readonly service: boolean;
  /** True for a command that is a server: without a terminal, its log is JSON. */
  readonly isServer?: boolean;
}

/** Time to close after the longest call: Temporal's SDK can wait a minute for a server with a full disk. */
const closeSecondsBeyondCall = 65;

/** Opens the parts that a command needs, calls `use`, and closes the parts, also after an error. */
export async function withSession<Result>(
  config: Config,
  needs: SessionNeeds,
  use: (session: Session) => Promise<Result>,
): Promise<Result> {
  if (needs.service) requireCredential(config);
  const log = createLogger({
    level: isQuiet ? 'error' : config.log.level,
    format: config.log.format ?? (needs.isServer === true ? undefined : 'pretty'),
    show: (line) => printNotice(describeLogLine(line)),
  });
  const stack = await acquireStack(
    config,
    { postgres: true, temporal: needs.temporal, sandbox: needs.service },
    printProgress,
  );
  const closing: (() => Promise<unknown>)[] = [() => stack.release()];
  const atEnd = (close: () => Promise<unknown>): void => void closing.push(close);
  try {
    if (stack.embedded.temporal && needs.service) {
      // The mark shows `enrich status` that this command continues the runs of embedded Temporal.
      const { workers } = config.embedded.directories;
      const mark = announce(workers);
      atEnd(async () => withdraw(workers, mark));
    }
    const migrated = await migrate(stack.databaseUrl);
    if (migrated.newer.length > 0)
      log.warn(
        { migrations: migrated.newer },
        'a newer release has migrated the warehouse: this release ignores the new columns and tables',
      );
    // A lost server or a failed worker rejects this promise. Otherwise, the command would wait for its run forever.
    return await new Promise<Result>((resolve, reject) => {
      stack.watch(reject);
      use(openSession({ config, stack, log, migrated }, atEnd, reject)).then(resolve, reject);
    });
  } catch (error) {
    throw await describeSessionFailure(error, { config, stack }, needs);
  } finally {
    const milliseconds = (config.service.callTimeoutSeconds + closeSecondsBeyondCall) * 1_000;
    for (const close of closing.reverse())
      await Promise.race([close(), sleep(milliseconds, undefined, { ref: false })]).catch((error: unknown) =>
        log.debug({ err: error }, 'closing'),
      );
  }
}

/** Turns an error of the database or of Temporal into a Problem. Other errors stay unchanged. */
export async function describeSessionFailure(
  error: unknown,
  { config, stack }: Pick<Session, 'config' | 'stack'>,
  needs: SessionNeeds,
): Promise<unknown> {
  if (isTransientDatabaseError(error)) return describeDatabaseFailure(error, stack.databaseUrl);
  if (!needs.temporal && config.temporalAddress === undefined) return error;
  const { describeTemporalFailure } = await import('../../temporal/connection.ts');
  return describeTemporalFailure(error, stack.temporal);
}

/** Opens the warehouse. Temporal, the worker and the metrics load and open when the command first needs them. */
function openSession(
  { config, stack, log, migrated }: Pick<Session, 'config' | 'stack' | 'log' | 'migrated'>,
  atEnd: (close: () => Promise<unknown>) => void,
  onWorkerFailure: (error: unknown) => void,
): Session {
  const warehouse = openWarehouse(stack.databaseUrl, {
    connections: 4,
    onIdleError: (error) => log.debug({ err: error }, 'an idle database connection ended'),
  });
  atEnd(() => warehouse.close());
  let receiver: RunningReceiver | undefined;
  const codec = async (): Promise<EncryptingCodec> => {
    const { payloadCodec } = await import('../../temporal/payload-codec.ts');
    return payloadCodec(config.temporalCodec);
  };
  const session: Session = {
    config,
    stack,
    warehouse,
    log,
    migrated,
    temporal: once(async () => {
      const { connectClient } = await import('../../temporal/connection.ts');
      const client = await connectClient(stack.temporal, await codec());
      atEnd(() => client.connection.close());
      return client;
    }),
    work: once(async () => {
      // Temporal's worker takes half a second of processor time to load, so only commands that need it load it.
      const { startOwnWorker } = await import('./own-worker.ts');
      const started = await startOwnWorker({ ...session, codec: await codec(), atEnd });
      ({ receiver } = started);
      started.worker.ended.catch(onWorkerFailure);
      return started.worker;
    }),
    metrics: once(async () => {
      const { serveMetrics } = await import('./servers.ts');
      try {
        const served = await serveMetrics(config, stack.databaseUrl, log);
        if (served) atEnd(() => served.close());
        return served;
      } catch (error) {
        // Two embedded commands on one machine may share METRICS_LISTEN. The second one then runs without metrics.
        if (!stack.temporal.embedded || !(error instanceof Problem)) throw error;
        log.warn({ err: error }, 'metrics are not served by this command');
        return undefined;
      }
    }),
    receiver: () => receiver,
  };
  return session;
}

/** Makes a part at the first call. After a failure, the next call tries again. */
function once<Part>(make: () => Promise<Part>): () => Promise<Part> {
  let part: Promise<Part> | undefined;
  return () =>
    (part ??= make().catch((error: unknown) => {
      part = undefined;
      throw error;
    }));
}

/** Opens a session with only the warehouse. */
export function withWarehouse<Result>(
  config: Config,
  use: (session: Session) => Promise<Result>,
): Promise<Result> {
  return withSession(config, { temporal: false, service: false }, use);
}

export function readSettings(given: SettingOverrides = {}): Config {
  return readConfig(process.env, given);
}

/** Reads the settings of a command that only reads. In a wrong folder, the command would create an empty warehouse. */
export function readSettingsOfExistingWarehouse(): Config {
  const config = readSettings();
  const { dataDirectory, directories } = config.embedded;
  if (config.databaseUrl !== undefined || existsSync(directories.postgres)) return config;
  throw new UsageProblem('warehouse.missing', 'there is no warehouse here yet', {
    where: dataDirectory,
    next: 'change to the folder of the runs, or set ENRICH_DATA_DIR or DATABASE_URL; or begin here: enrich run FILE',
  });
}

/** Refuses the URL of a service without a credential, before anything starts. */
function requireCredential({ service }: Config): void {
  if (service.baseUrl === undefined || service.credential) return;
  throw new UsageProblem('setting.missing', 'a service is set without a credential', {
    where: 'ENRICHMENT_API_KEY or ENRICHMENT_ACCESS_TOKEN',
    next: 'set one of them; or unset ENRICHMENT_BASE_URL to use the sandbox',
  });
}

/** Waits for Ctrl-C or SIGTERM. A second signal ends the process. */
export function untilStopped(): Promise<void> {
  return new Promise((resolve) => onFirstInterruption(() => resolve()));
}

/** Returns a signal that Ctrl-C or SIGTERM aborts, for work that can stop between two batches. */
export function stopAfterBatch(): AbortSignal {
  const stopped = new AbortController();
  onFirstInterruption(() => {
    printProgress('\nstopping after this batch; a second Ctrl-C stops at once, and finished batches stay');
    stopped.abort();
  });
  return stopped.signal;
}
