import { Counter, Gauge, Histogram, Registry, collectDefaultMetrics } from 'prom-client';

/**
 * How an exchange with the service ended: with an answer, or with what a failure asks for (`Disposition` of the
 * service).
 */
export type CallResult = 'answered' | 'retry' | 'wait' | 'pause' | 'reject' | 'unknown';
const callResults: readonly CallResult[] = ['answered', 'retry', 'wait', 'pause', 'reject', 'unknown'];

/** What the receiver did with a delivery. */
export type DeliveryResult = 'stored' | 'not-found' | 'refused' | 'unavailable';
const deliveryResults: readonly DeliveryResult[] = ['stored', 'not-found', 'refused', 'unavailable'];

/**
 * The operation that costs money: its series are there from the start, so that the first failure shows as an increase.
 */
const paidEndpoint = 'POST /people/bulk_match';
/**
 * A call takes some hundred milliseconds; the longest that is waited for is CALL_TIMEOUT, 60 s where nothing is set.
 */
const callSeconds = [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 20, 30, 60, 120];

/**
 * What this process has counted since its start. Labels are names of operations, kinds and results, of which there are
 * few: never an id, an address, or anything of a person.
 */
export class ProcessMetrics {
  readonly registry = new Registry();
  readonly #calls: Counter<'endpoint' | 'result'>;
  readonly #failures: Counter<'endpoint' | 'type'>;
  readonly #seconds: Histogram<'endpoint'>;
  readonly #inFlight: Gauge<'endpoint'>;
  readonly #rows: Counter;
  readonly #deliveries: Counter<'result'>;

  /** @param failureTypes of calls to the service; those of the paid operation are there from the start */
  constructor(version: string, failureTypes: readonly string[]) {
    const registers = [this.registry];
    collectDefaultMetrics({ register: this.registry });
    new Gauge({
      name: 'enrich_build_info',
      help: 'Always 1. The label is the release of this process.',
      labelNames: ['version'],
      registers,
    }).set({ version }, 1);
    this.#calls = new Counter({
      name: 'enrich_service_calls_total',
      help: 'HTTP calls to the service, by result: answered, or the disposition of the failure.',
      labelNames: ['endpoint', 'result'],
      registers,
    });
    this.#failures = new Counter({
      name: 'enrich_service_failures_total',
      help: 'HTTP calls to the service without a usable answer, by type of failure.',
      labelNames: ['endpoint', 'type'],
      registers,
    });
    this.#seconds = new Histogram({
      name: 'enrich_service_call_duration_seconds',
      help: 'Duration of HTTP calls to the service, failed calls included.',
      labelNames: ['endpoint'],
      buckets: callSeconds,
      registers,
    });
    this.#inFlight = new Gauge({
      name: 'enrich_service_calls_in_flight',
      help: 'HTTP calls to the service in flight.',
      labelNames: ['endpoint'],
      registers,
    });
    this.#rows = new Counter({
      name: 'enrich_ingested_rows_total',
      help: 'Rows of exports that this process has staged.',
      registers,
    });
    this.#deliveries = new Counter({
      name: 'enrich_webhook_deliveries_total',
      help: 'Deliveries at the receiver, by result: stored, not-found (unknown token), refused (too large), unavailable.',
      labelNames: ['result'],
      registers,
    });
    for (const result of callResults) this.#calls.inc({ endpoint: paidEndpoint, result }, 0);
    for (const type of failureTypes) this.#failures.inc({ endpoint: paidEndpoint, type }, 0);
    for (const result of deliveryResults) this.#deliveries.inc({ result }, 0);
  }

  /** Counts a call that has begun. @returns a function to call once, with the result */
  callBegan(endpoint: string): (result: CallResult, failureType?: string) => void {
    this.#inFlight.inc({ endpoint });
    const ended = this.#seconds.startTimer({ endpoint });
    return (result, type) => {
      ended();
      this.#inFlight.dec({ endpoint });
      this.#calls.inc({ endpoint, result });
      if (type !== undefined) this.#failures.inc({ endpoint, type });
    };
  }

  rowsIngested(rows: number): void {
    this.#rows.inc(rows);
  }

  deliveryCame(result: DeliveryResult): void {
    this.#deliveries.inc({ result });
  }
}
