import { Counter, Gauge, Histogram, Registry, collectDefaultMetrics } from 'prom-client';

/** The result of a call to the service: answered, or the disposition of its failure. */
const callResults = ['answered', 'retry', 'wait', 'pause', 'reject', 'unknown'] as const;
export type CallResult = (typeof callResults)[number];

/** The receiver's answer to a delivery. */
const deliveryResults = ['stored', 'not-found', 'refused', 'unavailable'] as const;
export type DeliveryResult = (typeof deliveryResults)[number];

/** Its series exist from the start, so that Prometheus sees the first failure as an increase. */
const paidEndpoint = 'POST /people/bulk_match';
/** Buckets in seconds: calls take some hundred milliseconds; the default of CALL_TIMEOUT is 60 s. */
const callSeconds = [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 20, 30, 60, 120];

/**
 * Counters of this process since its start. Labels have few values (operations, kinds, results) and never an
 * id, an address or personal data.
 */
export class ProcessMetrics {
  readonly registry = new Registry();
  readonly #calls = new Counter({
    name: 'enrich_service_calls_total',
    help: 'HTTP calls to the service, by result: answered, or the disposition of the failure.',
    labelNames: ['endpoint', 'result'],
    registers: [this.registry],
  });
  readonly #failures = new Counter({
    name: 'enrich_service_failures_total',
    help: 'HTTP calls to the service without a usable answer, by type of failure.',
    labelNames: ['endpoint', 'type'],
    registers: [this.registry],
  });
  readonly #seconds = new Histogram({
    name: 'enrich_service_call_duration_seconds',
    help: 'Duration of HTTP calls to the service, failed calls included.',
    labelNames: ['endpoint'],
    buckets: callSeconds,
    registers: [this.registry],
  });
  readonly #inFlight = new Gauge({
    name: 'enrich_service_calls_in_flight',
    help: 'HTTP calls to the service in flight.',
    labelNames: ['endpoint'],
    registers: [this.registry],
  });
  readonly #rows = new Counter({
    name: 'enrich_ingested_rows_total',
    help: 'Rows of exports that this process has staged.',
    registers: [this.registry],
  });
  readonly #deliveries = new Counter({
    name: 'enrich_webhook_deliveries_total',
    help:
      'Deliveries at the receiver, by result: stored, not-found (unknown token), refused (too large), ' +
      'unavailable.',
    labelNames: ['result'],
    registers: [this.registry],
  });

  /** @param failureTypes failure types of calls; the paid operation has a series for each from the start */
  constructor(version: string, failureTypes: readonly string[]) {
    collectDefaultMetrics({ register: this.registry });
    new Gauge({
      name: 'enrich_build_info',
      help: 'Always 1. The label is the release of this process.',
      labelNames: ['version'],
      registers: [this.registry],
    }).set({ version }, 1);
    for (const result of callResults) this.#calls.inc({ endpoint: paidEndpoint, result }, 0);
    for (const type of failureTypes) this.#failures.inc({ endpoint: paidEndpoint, type }, 0);
    for (const result of deliveryResults) this.#deliveries.inc({ result }, 0);
  }

  /**
   * Counts the start of a call.
   *
   * @returns a function to call once with the result
   */
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
