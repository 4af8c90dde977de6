import { DefaultLogger, Runtime, type LogMetadata } from '@temporalio/worker';
import { Problem } from '../domain/problem.ts';
import type { Logger } from '../telemetry/log.ts';

let isRuntimeInstalled = false;

/** Sends the SDK's log to the log of this process. The SDK allows one call for each process. */
export function installRuntime(log: Logger, metricsListen: string | undefined): void {
  if (isRuntimeInstalled) return;
  isRuntimeInstalled = true;
  Runtime.install({
    // The command decides when to stop its worker: it has servers to stop afterwards.
    shutdownSignals: [],
    logger: new DefaultLogger('TRACE', ({ level, message, meta }) => {
      const ours = expectedWarnings.test(message) ? 'debug' : sdkLevels[level];
      log[ours]({ from: 'temporal', ...pick(meta) }, message);
    }),
    telemetryOptions: {
      // Otherwise the native part of the SDK writes coloured lines among the lines of JSON.
      logging: { forward: {}, filter: { core: 'WARN', other: 'ERROR' } },
      ...(metricsListen !== undefined && { metrics: { prometheus: { bindAddress: metricsListen } } }),
    },
  });
}

/** The SDK's other fields hold payloads, stacks and tokens. A Problem has no secrets. */
function pick(meta: LogMetadata | undefined): Record<string, unknown> {
  const names = ['workflowId', 'workflowType', 'activityType', 'attempt', 'taskQueue'];
  const error = meta?.['error'];
  return {
    ...Object.fromEntries(names.flatMap((name) => (meta?.[name] === undefined ? [] : [[name, meta[name]]]))),
    ...(error instanceof Problem && { type: error.type, reason: error.sentence, next: error.next }),
  };
}

/** Workers of the call queues have no workflows. Runs report failed workflows, and our log failed activities. */
const expectedWarnings = /^(?:No workflows registered|(?:Workflow|Activity) failed)/;
const sdkLevels = { TRACE: 'trace', DEBUG: 'debug', INFO: 'debug', WARN: 'warn', ERROR: 'error' } as const;
