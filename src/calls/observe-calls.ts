import type { ProcessMetrics } from '../telemetry/process-metrics.ts';
import type { Tracing } from '../telemetry/tracing.ts';
import type { CallObserver } from '../service/call-operation.ts';
import { ServiceFailure } from '../service/failures/failure.ts';

/** Counts every HTTP call of a client by how it ended. */
export function countCalls(metrics: ProcessMetrics): CallObserver {
  return async (endpoint, call) => {
    const ended = metrics.startCall(endpoint.name);
    try {
      const answer = await call();
      ended('answered');
      return answer;
    } catch (error) {
      if (error instanceof ServiceFailure) ended(error.disposition, error.type);
      else ended('unknown', 'internal');
      throw error;
    }
  };
}

/** A span around every HTTP call of a client, named by its operation and, where it fails, by the type of failure. */
export function traceCalls(tracing: Tracing): CallObserver {
  return (endpoint, call) =>
    tracing.call(endpoint.name, call, (error) => (error instanceof ServiceFailure ? error.type : 'internal'));
}
