import { InMemorySpanExporter, SimpleSpanProcessor } from '@opentelemetry/sdk-trace-base';
import { expect, it } from 'vitest';
import { observeCalls } from '../../../src/worker.ts';
import { CallQueue } from '../../../src/ledger/call-queue.ts';
import { Tracing } from '../../../src/telemetry/tracing.ts';
import { ServiceFailure } from '../../../src/service/failures/failure.ts';

const endpoint = { name: 'POST /people/bulk_match', paid: true };

function traced() {
  const exporter = new InMemorySpanExporter();
  const tracing = new Tracing(new SimpleSpanProcessor(exporter), '1.2.3');
  return { tracing, call: observeCalls(undefined, tracing)!, spans: () => exporter.getFinishedSpans() };
}

it('activities of one workflow share a trace in all processes', async () => {
  const [one, other] = [traced(), traced()];
  const page = { workflowId: 'run-1/page-0001', type: 'enrichBatches', attempt: 1 };
  await one.tracing.activity(page, () => Promise.resolve());
  await other.tracing.activity({ ...page, attempt: 2 }, () => Promise.resolve());
  await one.tracing.activity({ ...page, workflowId: 'run-2/page-0001' }, () => Promise.resolve());
  const traceIds = [...one.spans(), ...other.spans()].map((span) => span.spanContext().traceId);
  expect(traceIds[0]).toBe(traceIds[2]);
  expect(traceIds[1]).not.toBe(traceIds[0]);
});

it('a call is a span below its activity, even if it went through the queue', async () => {
  const { tracing, call, spans } = traced();
  const queue = new CallQueue({
    concurrency: 1,
    freeSlots: () => Promise.resolve({ slots: 100, wait: undefined }),
    patienceMilliseconds: 1_000,
  });
  const { signal } = new AbortController();
  await Promise.all(
    ['one', 'two', 'three'].map((workflowId) =>
      tracing.activity({ workflowId, type: 'enrichBatches', attempt: 1 }, () =>
        queue.run('nightly', () => call(endpoint, () => Promise.resolve(workflowId)), signal),
      ),
    ),
  );
  await queue.close();
  const calls = spans().filter(({ name }) => name === endpoint.name);
  const activities = spans().filter(({ name }) => name === 'activity enrichBatches');
  expect(calls.map((span) => span.parentSpanContext?.spanId).sort()).toEqual(
    activities.map((span) => span.spanContext().spanId).sort(),
  );
});

it('the span of a failed call has the type of the failure, and no request data', async () => {
  const { call, spans } = traced();
  const failure = new ServiceFailure('unauthorized', {
    endpoint,
    httpStatus: 401,
    requestId: 'secret-request',
  });
  await expect(call(endpoint, () => Promise.reject(failure))).rejects.toBe(failure);
  expect(spans()[0]!.attributes).toEqual({ 'error.type': 'unauthorized' });
  const { name, attributes, events, status } = spans()[0]!;
  expect(JSON.stringify([name, attributes, events, status])).not.toContain('secret-request');
});
