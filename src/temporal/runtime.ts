import { DefaultLogger, Runtime, type LogMetadata } from '@temporalio/worker';
import { Problem } from '../domain/problem.ts';
import type { Logger } from '../telemetry/log.ts';

let isRuntimeInstalled = false;

/** Sends the log of Temporal's SDK to the log of this process. The SDK allows one call in each process. */
export function installRuntime(log: Logger, metricsListen: string | undefined): void {
  if (isRuntimeInstalled) return;
  isRuntimeInstalled = true;
  Runtime.install({
    // The command stops its worker itself, because it has servers to stop afterwards.
    shutdownSignals: [],
    logger: new DefaultLogger('TRACE', ({ level, message, meta }) => {
      const ours = expectedWarnings.test(message) ? 'debug' : sdkLevels[level];
      log[ours]({ from: 'temporal', ...pick(meta) }, message);
    }),
    telemetryOptions: {
      // Without this filter, the native part of the SDK writes coloured lines among lines of JSON.
      logging: { forward: {}, filter: { core: 'WARN', other: 'ERROR' } },
      ...(metricsListen !== undefined && { metrics: { prometheus: { bindAddress: metricsListen } } }),
    },
  });
}

/** Keeps only known fields of the SDK's log: others contain payloads, stacks and tokens. A Problem has no secrets. */
function pick(meta: LogMetadata | undefined): Record<string, unknown> {
  const names = ['workflowId', 'workflowType', 'activityType', 'attempt', 'taskQueue'];
  const error = meta?.['error'];
  return {
    ...Object.fromEntries(names.flatMap((name) => (meta?.[name] === undefined ? [] : [[name, meta[name]]]))),
    ...(error instanceof Problem && { type: error.type, reason: error.sentence, next: error.next }),
  };
}

/** Warnings that are expected: workers of call queues have no workflows, and failures are reported in other places. */
const expectedWarnings = /^(?:No workflows registered|(?:Workflow|Activity) failed)/;
const sdkLevels = { TRACE: 'trace', DEBUG: 'debug', INFO: 'debug', WARN: 'warn', ERROR: 'error' } as const;
