import { AsyncLocalStorage } from 'node:async_hooks';
import { createHash } from 'node:crypto';
import {
  ROOT_CONTEXT,
  SpanKind,
  SpanStatusCode,
  trace,
  type Attributes,
  type Span,
} from '@opentelemetry/api';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import {
  BasicTracerProvider,
  BatchSpanProcessor,
  RandomIdGenerator,
  type SpanProcessor,
} from '@opentelemetry/sdk-trace-base';
import { resourceFromAttributes } from '@opentelemetry/resources';

export type FailureName = (error: unknown) => string;

/** Traces activities and calls. A hash of the workflow's id is the trace id, so a workflow is one trace. */
export class Tracing {
  readonly #provider: BasicTracerProvider;
  /** The span in which this asynchronous code runs. */
  readonly #current = new AsyncLocalStorage<Span>();
  /** Trace id of the root span that is being started; otherwise undefined. */
  #traceId: string | undefined;

  constructor(processor: SpanProcessor, version: string) {
    const random = new RandomIdGenerator();
    this.#provider = new BasicTracerProvider({
      resource: resourceFromAttributes({ 'service.name': 'enrich', 'service.version': version }),
      spanProcessors: [processor],
      idGenerator: {
        // OpenTelemetry calls this only when a root span starts.
        generateTraceId: () => this.#traceId ?? random.generateTraceId(),
        generateSpanId: () => random.generateSpanId(),
      },
    });
  }

  activity<Result>(
    { workflowId, type, attempt }: { workflowId: string; type: string; attempt: number },
    work: () => Promise<Result>,
  ): Promise<Result> {
    const attributes = { 'temporal.workflow_id': workflowId, 'temporal.attempt': attempt };
    this.#traceId = createHash('sha256').update(workflowId).digest('hex').slice(0, 32);
    const span = this.#begin(`activity ${type}`, SpanKind.CONSUMER, attributes);
    this.#traceId = undefined;
    return this.#around(span, work);
  }

  /** Traces a call to the service, without its URL and bodies, which contain personal data. */
  call<Result>(endpoint: string, work: () => Promise<Result>, nameOf: FailureName): Promise<Result> {
    return this.#around(this.#begin(endpoint, SpanKind.CLIENT, {}), work, nameOf);
  }

  async close(): Promise<void> {
    await this.#provider.shutdown();
  }

  #begin(name: string, kind: SpanKind, attributes: Attributes): Span {
    const parent = this.#current.getStore();
    const context = parent ? trace.setSpan(ROOT_CONTEXT, parent) : ROOT_CONTEXT;
    return this.#provider.getTracer('enrich').startSpan(name, { kind, attributes }, context);
  }

  /** Runs `work` within a span, and marks the span if `work` fails. */
  async #around<Result>(
    span: Span,
    work: () => Promise<Result>,
    nameOf: FailureName = (error) => (error instanceof Error ? error.name : typeof error),
  ): Promise<Result> {
    try {
      return await this.#current.run(span, work);
    } catch (error) {
      span.setAttribute('error.type', nameOf(error));
      // The message is left out, because it may quote the request.
      span.setStatus({ code: SpanStatusCode.ERROR });
      throw error;
    } finally {
      span.end();
    }
  }
}

/** Starts to export traces. OpenTelemetry's own variables (`OTEL_EXPORTER_OTLP_…`) set headers and timeouts. */
export function startTracing(endpoint: string, version: string): Tracing {
  const exporter = new OTLPTraceExporter({ url: `${endpoint.replace(/\/$/, '')}/v1/traces` });
  return new Tracing(new BatchSpanProcessor(exporter), version);
}
