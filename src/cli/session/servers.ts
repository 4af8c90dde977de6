import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Client } from '@temporalio/client';
import { httpUrlOf, serviceName, type Config, type ListenAddress } from '../../config/settings.ts';
import { deliveryReceivedSignalName } from '../../contract/temporal-names.ts';
import { openWarehouse } from '../../db/database.ts';
import { freePort } from '../../dev/server.ts';
import type { Stack } from '../../dev/stack.ts';
import { portTakenProblem, Problem } from '../../domain/problem.ts';
import { isLoopback } from '../../domain/text/url-parts.ts';
import { makeFolder } from '../../files/make-folder.ts';
import { version } from '../../files/project-file.ts';
import { startReceiver, WakeUps, type RunningReceiver } from '../../late-results/receiver.ts';
import { readWarehouseMetrics } from '../../monitoring/warehouse-metrics.ts';
import { failureKinds } from '../../service/failures/failure.ts';
import type { Logger } from '../../telemetry/log.ts';
import { ProcessMetrics, startMetricsEndpoint } from '../../telemetry/process-metrics.ts';
import { isWorkflowGone } from '../../temporal/connection.ts';
import { printProgress } from '../terminal/output.ts';

/** Time that a receiver waits for a database connection before it answers 503, and the service sends again. */
const connectMilliseconds = 2_000;
/** Database connections of a receiver. */
const connections = 16;

export interface ReceiverParts {
  readonly stack: Pick<Stack, 'databaseUrl'>;
  readonly log: Logger;
  temporal(): Promise<Client>;
  metrics(): Promise<ServedMetrics | undefined>;
}

/** Starts a receiver, which stores deliveries and wakes their runs. @throws Problem `port.taken` */
export async function runReceiver(listen: ListenAddress, parts: ReceiverParts): Promise<RunningReceiver> {
  const { stack, log } = parts;
  const metrics = await parts.metrics();
  const warehouse = openWarehouse(stack.databaseUrl, {
    connections,
    connectMilliseconds,
    queryMilliseconds: connectMilliseconds,
    applicationName: 'enrich receiver',
    onIdleError: (error) => log.info({ err: error }, 'an idle database connection ended'),
  });
  const wakeUps = new WakeUps(async (runId) => {
    const client = await parts.temporal();
    try {
      await client.workflow.getHandle(runId).signal(deliveryReceivedSignalName);
    } catch (error) {
      // The run's workflow has ended, so the sweep applies the late result.
      if (!isWorkflowGone(error)) throw error;
    }
  });
  const close = async (): Promise<void> => {
    await wakeUps.close();
    await warehouse.close();
  };
  try {
    const receiver = await startReceiver({
      warehouse,
      ...listen,
      onStored: (runId) => wakeUps.stored(runId),
      count: (result) => metrics?.process.countDelivery(result),
      log,
    });
    return { ...receiver, close: () => receiver.close().then(close) };
  } catch (error) {
    await close();
    if ((error as { code?: string }).code !== 'EADDRINUSE') throw error;
    throw portTakenProblem(listen.port, 'the receiver', 'WEBHOOK_LISTEN', 'set another port', error);
  }
}

/**
 * Starts the webhook receiver of a command with embedded Temporal. Undefined if the port is taken: the receiver of
 * another command, which stores deliveries in the same database, then serves both commands.
 */
export async function runOwnReceiver(
  config: Config,
  parts: ReceiverParts,
): Promise<RunningReceiver | undefined> {
  const listen = config.webhook.listen ?? (await usualAddress(config));
  try {
    const receiver = await runReceiver(listen, parts);
    // The next command listens on the same port, because the service sends late deliveries there.
    makeFolder(config.embedded.dataDirectory);
    writeFileSync(portFile(config), String(receiver.port));
    return receiver;
  } catch (error) {
    if (!(error instanceof Problem && error.type === 'port.taken')) throw error;
    parts.log.info({ port: listen.port }, 'another command receives webhooks');
    return undefined;
  }
}

/** Returns the port of the last command, or with WEBHOOK_PUBLIC_URL the default port, to which a proxy forwards. */
async function usualAddress(config: Config): Promise<ListenAddress> {
  if (config.webhook.publicUrl !== undefined) return defaultListen;
  const file = portFile(config);
  const previous = existsSync(file) ? Number(readFileSync(file, 'utf8')) : undefined;
  return { host: '127.0.0.1', port: await freePort(previous || undefined) };
}

export const defaultListen: ListenAddress = { host: '127.0.0.1', port: 8080 };

/** File with the port of the last receiver on this machine. */
function portFile(config: Config): string {
  return join(config.embedded.dataDirectory, 'receiver-port');
}

/** Returns the webhook URL that calls send; undefined if the service cannot reach a receiver, so that the run polls. */
export function webhookUrlOf(
  config: Config,
  serviceUrl: string | undefined,
  receiver: { readonly port: number } | undefined,
): string | undefined {
  if (config.webhook.publicUrl !== undefined) return config.webhook.publicUrl;
  const isHere = serviceUrl !== undefined && isLoopback(new URL(serviceUrl).hostname);
  return receiver && isHere ? `http://127.0.0.1:${receiver.port}` : undefined;
}

export type ServedMetrics = NonNullable<Awaited<ReturnType<typeof serveMetrics>>>;

/** The metrics endpoint must answer quickly even when the database does not. */
const databaseMilliseconds = 2_000;

/** Serves metrics of this process, of the warehouse and of Temporal's SDK. Undefined without METRICS_LISTEN. */
export async function serveMetrics(config: Config, databaseUrl: string, log: Logger) {
  if (!config.metricsListen) return undefined;
  const process = new ProcessMetrics(version, Object.keys(failureKinds));
  // Metrics use a connection of their own, because they must also show an exhausted pool.
  const warehouse = openWarehouse(databaseUrl, {
    connections: 1,
    connectMilliseconds: databaseMilliseconds,
    queryMilliseconds: 2 * databaseMilliseconds,
    applicationName: 'enrich metrics',
  });
  const { rateLimits, budgets } = config;
  const limits = { service: serviceName(config), rateLimits, budgets: budgets.perPeriod };
  const temporalListen = `127.0.0.1:${await freePort()}`;
  try {
    const endpoint = await startMetricsEndpoint(
      config.metricsListen,
      {
        process: process.registry,
        warehouse: () => readWarehouseMetrics(warehouse, limits),
        temporal: `http://${temporalListen}/metrics`,
      },
      log,
    );
    printProgress(`metrics on ${httpUrlOf(endpoint)}/metrics`);
    return {
      process,
      /** Address at which Temporal's SDK must serve its metrics. The endpoint includes them in its own. */
      temporalListen,
      close: async () => {
        await endpoint.close();
        await warehouse.close();
      },
    };
  } catch (error) {
    await warehouse.close();
    throw error;
  }
}
