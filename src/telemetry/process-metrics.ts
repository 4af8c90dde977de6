import type { AddressInfo } from 'node:net';
import fastify from 'fastify';
import { Counter, Gauge, Histogram, Registry, collectDefaultMetrics } from 'prom-client';
import type { ListenAddress } from '../config/settings.ts';
import { portTakenProblem } from '../domain/problem.ts';
import type { Logger } from './log.ts';
import metrics from './process-metrics.json' with { type: 'json' };

const callResults = ['answered', 'retry', 'wait', 'pause', 'reject', 'unknown'] as const;
export type CallResult = (typeof callResults)[number];

const deliveryResults = ['stored', 'not-found', 'refused', 'unavailable'] as const;
export type DeliveryResult = (typeof deliveryResults)[number];

/** Endpoint whose series exist from the start, so that Prometheus sees even the first failure as an increase. */
const paidEndpoint = 'POST /people/bulk_match';
/** Buckets in seconds. Most calls take some hundred milliseconds; the default of CALL_TIMEOUT is 60 s. */
const callSeconds = [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 20, 30, 60, 120];

/** Counters of this process since its start. Their labels never contain ids, e-mails or other personal data. */
export class ProcessMetrics {
  readonly registry = new Registry();
  readonly #calls = new Counter(this.#named('enrich_service_calls_total'));
  readonly #failures = new Counter(this.#named('enrich_service_failures_total'));
  readonly #seconds = new Histogram({
    ...this.#named('enrich_service_call_duration_seconds'),
    buckets: callSeconds,
  });
  readonly #inFlight = new Gauge(this.#named('enrich_service_calls_in_flight'));
  readonly #rows = new Counter(this.#named('enrich_ingested_rows_total'));
  readonly #deliveries = new Counter(this.#named('enrich_webhook_deliveries_total'));

  constructor(version: string, failureTypes: readonly string[]) {
    collectDefaultMetrics({ register: this.registry });
    new Gauge(this.#named('enrich_build_info')).set({ version }, 1);
    for (const result of callResults) this.#calls.inc({ endpoint: paidEndpoint, result }, 0);
    for (const type of failureTypes) this.#failures.inc({ endpoint: paidEndpoint, type }, 0);
    for (const result of deliveryResults) this.#deliveries.inc({ result }, 0);
  }

  #named(name: keyof typeof metrics) {
    return { name, ...metrics[name], registers: [this.registry] };
  }

  /** Counts a call in flight. @returns a function that ends it with its result */
  startCall(endpoint: string): (result: CallResult, failureType?: string) => void {
    this.#inFlight.inc({ endpoint });
    const ended = this.#seconds.startTimer({ endpoint });
    return (result, type) => {
      ended();
      this.#inFlight.dec({ endpoint });
      this.#calls.inc({ endpoint, result });
      if (type !== undefined) this.#failures.inc({ endpoint, type });
    };
  }

  countRows(rows: number): void {
    this.#rows.inc(rows);
  }

  countDelivery(result: DeliveryResult): void {
    this.#deliveries.inc({ result });
  }
}

export interface MetricsSources {
  readonly process: Registry;
  /** Reads the metrics of the warehouse. It takes limited time and never rejects. */
  readonly warehouse: () => Promise<string>;
  readonly temporal: string | undefined;
}

/** Time limit for reading the metrics of Temporal's SDK, which this machine holds in memory. */
const temporalMilliseconds = 1_000;

/** Serves metrics. A source that fails is left out, because operators need the others during an outage. */
export async function startMetricsEndpoint(listen: ListenAddress, sources: MetricsSources, log: Logger) {
  const server = fastify({ exposeHeadRoutes: false, forceCloseConnections: true });
  server.get('/healthz', () => ({ alive: true }));
  server.get('/metrics', async (_, reply) => {
    const text = await collect(sources);
    return reply.header('content-type', sources.process.contentType).send(text);
  });
  server.setErrorHandler(async (error, _, reply) => {
    log.error({ err: error }, 'cannot collect the metrics');
    await reply.code(500).send();
  });
  await server.listen({ ...listen }).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'EADDRINUSE') throw error;
    const otherPort = 'set another port (0 chooses a free one)';
    throw portTakenProblem(listen.port, 'the metrics endpoint', 'METRICS_LISTEN', otherPort, error);
  });
  // An error event without a listener would end the process.
  server.server.on('error', (error) => log.error({ err: error }, 'the metrics endpoint failed'));
  const { port } = server.server.address() as AddressInfo;
  return { host: listen.host, port, close: () => server.close() };
}

/** Joins the metrics of all sources. */
async function collect({ process, warehouse, temporal }: MetricsSources): Promise<string> {
  const ofTemporal = temporal === undefined ? '' : readTemporal(temporal);
  const parts = await Promise.all([process.metrics(), warehouse(), ofTemporal]);
  return parts.flatMap((part) => (part === '' ? [] : `${part.trimEnd()}\n`)).join('');
}

/** Reads the metrics of Temporal's SDK. Empty if it does not answer. */
async function readTemporal(address: string): Promise<string> {
  try {
    const answer = await fetch(address, { signal: AbortSignal.timeout(temporalMilliseconds) });
    return answer.ok ? await answer.text() : '';
  } catch {
    return '';
  }
}
