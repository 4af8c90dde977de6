import type { Tracing } from '../telemetry/tracing.ts';
import type { CallObserver } from '../service/call-operation.ts';
import { ServiceFailure } from '../service/failures/failure.ts';

/** A span around every HTTP call of a client, named by its operation and, where it fails, by the type of failure. */
export function traceCalls(tracing: Tracing): CallObserver {
  return (endpoint, call) =>
    tracing.call(endpoint.name, call, (error) => (error instanceof ServiceFailure ? error.type : 'internal'));
}
