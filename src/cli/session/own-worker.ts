import type { Config } from '../../config/settings.ts';
import type { Warehouse } from '../../db/database.ts';
import type { Stack } from '../../dev/stack.ts';
import { installRuntime } from '../../temporal/runtime.ts';
import { startWorker } from '../../worker.ts';
import { createOwnSchedules } from '../../temporal/own-schedules.ts';
import type { EncryptingCodec } from '../../temporal/payload-codec.ts';
import { runOwnReceiver, webhookUrlOf, type ReceiverParts } from './servers.ts';
import { startLineage } from '../../monitoring/lineage.ts';
import { commandChannel, urlChannel } from '../../monitoring/notification-channels.ts';
import { Notifier } from '../../monitoring/notifications.ts';
import { connectWorker } from '../../temporal/connection.ts';
import { version } from '../../files/project-file.ts';

interface WorkerParts extends ReceiverParts {
  readonly config: Config;
  readonly stack: Stack;
  readonly warehouse: Warehouse;
  readonly codec: EncryptingCodec;
  /** Registers what to close at the end. What started last is closed first. */
  readonly atEnd: (close: () => Promise<unknown>) => void;
}

/** Starts a worker with its notifications, traces and schedules, and the receiver that embedded Temporal lacks. */
export async function startOwnWorker(parts: WorkerParts) {
  const { config, stack, warehouse, log, codec, atEnd } = parts;
  const metrics = await parts.metrics();
  const { tracesEndpoint } = config;
  const tracing =
    tracesEndpoint === undefined
      ? undefined
      : (await import('../../telemetry/tracing.ts')).startTracing(tracesEndpoint, version);
  if (tracing) atEnd(() => tracing.close());
  const receiver = stack.temporal.embedded ? await runOwnReceiver(config, parts) : undefined;
  if (receiver) atEnd(() => receiver.close());
  const { notify } = config;
  const channels = [
    ...(notify.url === undefined ? [] : [urlChannel(notify.url, notify.secret)]),
    ...(notify.command === undefined ? [] : [commandChannel(notify.command)]),
  ];
  const { on: events, withNames } = notify;
  const notifier = new Notifier({ warehouse, channels, events, withNames, log });
  if (channels.length > 0) {
    notifier.start();
    atEnd(() => notifier.close());
  }
  const { url, apiKey, namespace } = config.lineage;
  const source = { namespace, databaseUrl: stack.databaseUrl, version };
  const lineage = url === undefined ? undefined : startLineage(warehouse, { url, apiKey }, source, log);
  if (lineage) atEnd(() => lineage.close());
  // The client connects before the worker, because it reports an unknown namespace more clearly.
  const client = await parts.temporal();
  await createOwnSchedules(client, Object.keys(config.retention).length > 0);
  // Only closing a connection stops the runtime's threads, so nothing may fail between these two lines.
  installRuntime(log, metrics?.temporalListen);
  const connection = await connectWorker(stack.temporal);
  atEnd(() => connection.close());
  const worker = await startWorker({
    config,
    databaseUrl: stack.databaseUrl,
    service: stack.service,
    temporal: {
      connection,
      namespace: stack.temporal.namespace,
      codec,
      // Temporal gives a versioned worker no tasks until an operator makes its version current. An embedded server has
      // no operator.
      version: stack.temporal.embedded ? undefined : config.workerVersion,
    },
    webhookUrl: webhookUrlOf(config, stack.service.baseUrl, receiver),
    metrics: metrics?.process,
    tracing,
    lineage,
    log,
  });
  atEnd(() => worker.stop());
  return { worker, receiver };
}
