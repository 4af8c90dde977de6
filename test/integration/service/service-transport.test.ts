import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import { deflateRawSync, gzipSync } from 'node:zlib';
import type { Socket } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { createServiceClient, type ServiceClient } from '../../../src/service/client.ts';
import { ServiceFailure } from '../../../src/service/failures/failure.ts';
import { createTransport, type TransportLimits } from '../../../src/service/transport.ts';
import {
  httpAnswer,
  startScriptedServer,
  type ScriptedServer,
} from '../../helpers/servers/scripted-server.ts';

const good = JSON.stringify({
  status: 'success',
  credits_consumed: 1,
  request_id: 7,
  matches: [{ id: 'p1' }],
});
const details = [{ email: 'mira@lindqvist.example' }];

let open: { close(): Promise<void> }[] = [];
afterEach(async () => {
  await Promise.all(open.map((part) => part.close()));
  open = [];
});

async function serve(...script: Parameters<typeof startScriptedServer>): Promise<ScriptedServer> {
  const server = await startScriptedServer(...script);
  open.push(server);
  return server;
}

function clientOf(
  baseUrl: string,
  { callTimeoutSeconds = 5, ...limits }: Partial<TransportLimits> & { callTimeoutSeconds?: number } = {},
): ServiceClient {
  const client = createServiceClient(
    {
      baseUrl,
      credential: { kind: 'api-key', value: 'k' },
      callTimeoutSeconds,
      pollPath: '/webhook_result/{request_id}',
    },
    createTransport(limits),
  );
  open.push(client);
  return client;
}

async function failureOf(call: Promise<unknown>): Promise<ServiceFailure> {
  const error: unknown = await call.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  if (error instanceof ServiceFailure) return error;
  throw new Error(`no ServiceFailure but ${String(error)}`);
}

/** The parts of a failure that decide what the caller does. */
function verdict({ type, disposition, mayHaveBeenBilled }: ServiceFailure): unknown[] {
  return [type, disposition, mayHaveBeenBilled];
}

const free = (type: string): unknown[] => [type, 'retry', false];
const unknown = (type: string): unknown[] => [type, 'unknown', true];

async function failsWith(
  script: Parameters<typeof startScriptedServer>,
  limits?: Parameters<typeof clientOf>[1],
): Promise<{ failure: ServiceFailure; server: ScriptedServer }> {
  const server = await serve(...script);
  const failure = await failureOf(clientOf(server.baseUrl, limits).bulkMatch({ details }));
  return { failure, server };
}

const answering = (bytes: Buffer | string) => (socket: Socket) => void socket.write(bytes);

describe('a call that was certainly not sent', () => {
  it('a call to a port without a listener is retried without cost', async () => {
    const server = await startScriptedServer(() => {});
    await server.close();
    expect(verdict(await failureOf(clientOf(server.baseUrl).bulkMatch({ details })))).toEqual(
      free('not-sent.refused'),
    );
  });

  it('a call to an unknown host is retried without cost', async () => {
    const client = clientOf('http://service.invalid/api/v1');
    expect(verdict(await failureOf(client.bulkMatch({ details })))).toEqual(free('not-sent.dns'));
  });

  it('a call with a failed TLS handshake is retried without cost', async () => {
    const server = await serve(
      () => {},
      (socket) => {
        socket.once('data', () => socket.end('HTTP/1.1 400 Bad Request\r\n\r\n'));
        return true;
      },
    );
    const client = clientOf(server.baseUrl.replace('http:', 'https:'));
    expect(verdict(await failureOf(client.bulkMatch({ details })))).toEqual(free('not-sent.tls'));
  });

  const silent: Parameters<typeof startScriptedServer> = [() => {}, () => true];

  it('a call with a connection that does not open in time is retried without cost', async () => {
    const server = await serve(...silent);
    const client = clientOf(server.baseUrl.replace('http:', 'https:'), { connectMilliseconds: 500 });
    expect(verdict(await failureOf(client.bulkMatch({ details })))).toEqual(free('not-sent.timeout'));
  });

  it('a call that is abandoned before it was sent is retried without cost', async () => {
    const server = await serve(answering(httpAnswer(200, good)));
    const failure = await failureOf(clientOf(server.baseUrl).bulkMatch({ details }, AbortSignal.abort()));
    expect(verdict(failure)).toEqual(free('not-sent.aborted'));
    expect(server.requests).toHaveLength(0);
  });

  it('a call that failed before it was sent is not sent later, when the connection opens', async () => {
    let connections = 0;
    const server = await serve(answering(httpAnswer(200, good)), () => {
      connections += 1;
      return false;
    });
    const transport = createTransport();
    const controller = new AbortController();
    const call = transport.send({
      method: 'GET',
      url: new URL(server.baseUrl),
      headers: {},
      deadlineMilliseconds: 5_000,
      signal: controller.signal,
    });
    controller.abort();
    await expect(call).rejects.toMatchObject({ code: 'ABORTED', sent: false });
    await transport.close();
    expect([connections, server.requests.length]).toEqual([1, 0]);
  });
});

it('a call is unknown, and sent once, if the connection is reset after the request', async () => {
  const { failure, server } = await failsWith([(socket) => socket.resetAndDestroy()]);
  expect(verdict(failure)).toEqual(unknown('connection-lost'));
  expect(server.requests).toHaveLength(1);
});

it('a call is unknown if the response is cut off', async () => {
  const { failure } = await failsWith([
    (socket) => void socket.end(httpAnswer(200, good, { 'content-length': String(good.length + 40) })),
  ]);
  expect(verdict(failure)).toEqual(unknown('connection-lost'));
  expect(failure.httpStatus).toBe(200);
});

it('a call is unknown if no response begins before the deadline', async () => {
  const { failure } = await failsWith([() => {}], { callTimeoutSeconds: 0.3 });
  expect(verdict(failure)).toEqual(unknown('timeout'));
});

it('a response that arrives while the process is suspended beyond the deadline is read', async () => {
  // The server runs in another thread, so that it can answer while this thread is suspended.
  const server = new Worker(
    `const { createServer } = require('node:http');
    const { parentPort, workerData } = require('node:worker_threads');
    const server = createServer((_, answer) => {
      parentPort.postMessage('asked');
      setTimeout(() => answer.end(workerData), 100);
    });
    server.listen(0, '127.0.0.1', () => parentPort.postMessage(server.address().port));`,
    { eval: true, workerData: good.padEnd(600_000) },
  );
  open.push({ close: async () => void (await server.terminate()) });
  const [port] = (await once(server, 'message')) as [number];
  const client = clientOf(`http://127.0.0.1:${port}/api/v1`, { callTimeoutSeconds: 0.3 });
  const answer = client.bulkMatch({ details }, AbortSignal.timeout(300));
  await once(server, 'message');
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 600);
  expect((await answer).matches).toHaveLength(1);
});

it('a call is unknown if the response stops in the middle', async () => {
  const { failure } = await failsWith([answering('HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\n{')], {
    silenceMilliseconds: 200,
  });
  expect(verdict(failure)).toEqual(unknown('timeout'));
});

it('a call is unknown if it is abandoned in flight', async () => {
  const controller = new AbortController();
  const server = await serve(() => controller.abort());
  const failure = await failureOf(clientOf(server.baseUrl).bulkMatch({ details }, controller.signal));
  expect(verdict(failure)).toEqual(unknown('aborted'));
});

it('a call is unknown if a small response unpacks to more than is allowed', async () => {
  const bomb = gzipSync(Buffer.alloc(5_000_000));
  const { failure } = await failsWith([answering(httpAnswer(200, bomb, { 'content-encoding': 'gzip' }))], {
    answerBytes: 1_000_000,
  });
  expect(verdict(failure)).toEqual(unknown('answer-too-large'));
});

it('a 422 is recognised as a refusal although its response never ends', async () => {
  const server = await serve(answering('HTTP/1.1 422 Status\r\ncontent-length: 100\r\n\r\n{"error"'));
  const failure = await failureOf(
    clientOf(server.baseUrl, { silenceMilliseconds: 200 }).bulkMatch({ details }),
  );
  expect(verdict(failure)).toEqual(['validation', 'reject', false]);
});

it('a redirect is not followed, because another host would get the key', async () => {
  const server = await serve(answering(httpAnswer(307, '', { location: 'http://127.0.0.1:9/' })));
  const failure = await failureOf(clientOf(server.baseUrl).bulkMatch({ details }));
  expect(verdict(failure)).toEqual(['redirected', 'pause', false]);
});

it.each([
  ['gzip', 'gzip', gzipSync(good)],
  ['gzip without its content-encoding header', 'identity', gzipSync(good)],
  ['plain although its header says gzip', 'gzip', Buffer.from(good)],
])('the client reads a compressed or a plain answer (%s)', async (_, coding, body) => {
  const server = await serve(answering(httpAnswer(200, body, { 'content-encoding': coding })));
  expect((await clientOf(server.baseUrl).bulkMatch({ details })).raw.toString()).toBe(good);
  expect(server.requests[0]).toMatch(/^accept-encoding: gzip\r$/im);
});

it('a call is unknown if the response has an unknown content encoding', async () => {
  const coded = deflateRawSync(good);
  const { failure } = await failsWith([answering(httpAnswer(200, coded, { 'content-encoding': 'x-own' }))]);
  expect(verdict(failure)).toEqual(unknown('unreadable-answer'));
});
