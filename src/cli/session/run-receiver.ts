import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Client } from '@temporalio/client';
import { makeFolder } from '../../files/make-folder.ts';
import { httpAddress, type Config, type ListenAddress } from '../../config/settings.ts';
import { deliveryReceivedSignalName } from '../../contract/temporal-names.ts';
import { choosePort } from '../../dev/ports.ts';
import { portTaken } from '../../domain/port-taken.ts';
import { Problem } from '../../domain/problem.ts';
import type { Logger } from '../../telemetry/log.ts';
import type { ProcessMetrics } from '../../telemetry/process-metrics.ts';
import { openWarehouse } from '../../db/database.ts';
import { startReceiver, WakeUps, type RunningReceiver } from '../../late-results/receiver.ts';
import { isWorkflowGone } from '../../temporal/connection.ts';
import { isLoopback } from '../../domain/text/loopback.ts';

/** A receiver without a connection after this time answers 503. The service sends again, and no requests pile up. */
const connectMilliseconds = 2_000;
const connections = 16;

export interface ReceiverParts {
  readonly databaseUrl: string;
  readonly temporal: () => Promise<Client>;
  /** Undefined: nothing is counted. */
  readonly metrics: ProcessMetrics | undefined;
  readonly log: Logger;
}

/**
 * Starts a receiver: inbox in PostgreSQL, wake-ups by signals to the runs' workflows.
 *
 * @throws Problem `port.taken`
 */
export async function runReceiver(listen: ListenAddress, parts: ReceiverParts): Promise<RunningReceiver> {
  const { databaseUrl, temporal, metrics, log } = parts;
  const warehouse = openWarehouse(databaseUrl, {
    connections,
    connectMilliseconds,
    queryMilliseconds: connectMilliseconds,
    applicationName: 'enrich receiver',
    onIdleError: (error) => log.info({ err: error }, 'an idle database connection ended'),
  });
  const wakeUps = new WakeUps(async (runId) => {
    const client = await temporal();
    try {
      await client.workflow.getHandle(runId).signal(deliveryReceivedSignalName);
    } catch (error) {
      // The run has ended: the sweep applies its late results.
      if (!isWorkflowGone(error)) throw error;
    }
  });
  try {
    const receiver = await startReceiver({
      warehouse,
      ...listen,
      onStored: (runId) => wakeUps.stored(runId),
      count: (result) => metrics?.countDelivery(result),
      log,
    });
    return {
      ...receiver,
      close: async () => {
        await receiver.close();
        await wakeUps.close();
        await warehouse.close();
      },
    };
  } catch (error) {
    await wakeUps.close();
    await warehouse.close();
    if ((error as { code?: string }).code !== 'EADDRINUSE') throw error;
    throw portTaken(listen.port, 'the receiver', 'WEBHOOK_LISTEN', 'set another port', error);
  }
}

/**
 * Starts the receiver of a command with embedded Temporal. If another command receives on the same address already, no
 * second receiver is needed: both use the inbox in the database.
 *
 * @returns undefined where another command receives
 */
export async function runOwnReceiver(
  config: Config,
  parts: ReceiverParts,
): Promise<RunningReceiver | undefined> {
  const listen = config.webhook.listen ?? (await usualAddress(config));
  try {
    const receiver = await runReceiver(listen, parts);
    recordPort(config, receiver.port);
    return receiver;
  } catch (error) {
    if (error instanceof Problem && error.type === 'port.taken' && (await receivesAt(listen)))
      return undefined;
    throw error;
  }
}

/** The port of a `WEBHOOK_PUBLIC_URL` on this machine; without the setting, the port of the last command. */
async function usualAddress(config: Config): Promise<ListenAddress> {
  const { publicUrl } = config.webhook;
  if (publicUrl !== undefined) {
    const url = new URL(publicUrl);
    const host = url.hostname.replace(/^\[(.*)\]$/, '$1');
    if (isLoopback(url.hostname) && url.port !== '') return { host, port: Number(url.port) };
    return defaultListen;
  }
  const file = portFile(config);
  const previous = existsSync(file) ? Number(readFileSync(file, 'utf8')) : undefined;
  return { host: '127.0.0.1', port: await choosePort(0, previous || undefined) };
}

/** The address to which a reverse proxy on the same machine forwards deliveries. */
export const defaultListen: ListenAddress = { host: '127.0.0.1', port: 8080 };

/** Keeps the port for the next command: the service sends deliveries to it after this command has ended. */
function recordPort(config: Config, port: number): void {
  makeFolder(config.embedded.dataDirectory);
  writeFileSync(portFile(config), String(port));
}

function portFile(config: Config): string {
  return join(config.embedded.dataDirectory, 'receiver-port');
}

async function receivesAt(listen: ListenAddress): Promise<boolean> {
  try {
    const answer = await fetch(`${httpAddress(listen)}/healthz`, { signal: AbortSignal.timeout(2_000) });
    return answer.ok && ((await answer.json()) as { alive?: boolean }).alive === true;
  } catch {
    return false;
  }
}
