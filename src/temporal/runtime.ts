import { DefaultLogger, Runtime, type LogMetadata } from '@temporalio/worker';
import type { Logger } from '../telemetry/log.ts';

let isRuntimeInstalled = false;

/**
 * Sends the SDK's own log to ours, before the first worker. The SDK allows it once a process: a later call changes
 * nothing.
 *
 * @param metricsListen where the SDK serves its metrics; undefined: nowhere
 */
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
      // Its native part would otherwise write lines of its own form, in colours, among those of JSON.
      logging: { forward: {}, filter: { core: 'WARN', other: 'ERROR' } },
      ...(metricsListen !== undefined && { metrics: { prometheus: { bindAddress: metricsListen } } }),
    },
  });
}

/** What of the SDK's own fields is an id or a name: the others hold payloads, stacks and tokens of tasks. */
function pick(meta: LogMetadata | undefined): Record<string, unknown> {
  const names = ['workflowId', 'workflowType', 'activityType', 'attempt', 'taskQueue'];
  return Object.fromEntries(
    names.flatMap((name) => (meta?.[name] === undefined ? [] : [[name, meta[name]]])),
  );
}

/** Workers of the call queues have no workflows. Runs say how workflows fail, and our log why activities do. */
const expectedWarnings = /^(?:No workflows registered|(?:Workflow|Activity) failed)/;
const sdkLevels = { TRACE: 'trace', DEBUG: 'debug', INFO: 'debug', WARN: 'warn', ERROR: 'error' } as const;
