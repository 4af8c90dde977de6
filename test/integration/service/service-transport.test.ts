import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import { deflateRawSync, gzipSync } from 'node:zlib';
import type { Socket } from 'node:net';
import { afterEach, expect, it } from 'vitest';
import { type ServiceClient } from '../../../src/service/client.ts';
import { ServiceFailure } from '../../../src/service/failures/failure.ts';
import { createTransport, type TransportLimits } from '../../../src/service/transport.ts';
import {
  httpAnswer,
  startScriptedServer,
  type ScriptedServer,
} from '../../helpers/servers/scripted-server.ts';
import { testClient, verdictOf } from '../../helpers/servers/test-client.ts';
import { freePort } from '../../helpers/servers/ports.ts';

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
  const client = testClient({ baseUrl, callTimeoutSeconds, transport: createTransport(limits) });
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

async function failsWith(
  onRequest: Parameters<typeof startScriptedServer>[0],
  limits?: Parameters<typeof clientOf>[1],
): Promise<{ failure: ServiceFailure; server: ScriptedServer }> {
  const server = await serve(onRequest);
  const failure = await failureOf(clientOf(server.baseUrl, limits).bulkMatch({ details }));
  return { failure, server };
}

const answering = (bytes: Buffer | string) => (socket: Socket) => void socket.write(bytes);

/** A client that calls a server over TLS, which handles its connections as given. */
async function clientOverTls(
  onConnection: (socket: Socket) => void,
  limits?: Parameters<typeof clientOf>[1],
): Promise<ServiceClient> {
  const server = await serve(
    () => {},
    (socket) => {
      onConnection(socket);
      return true;
    },
  );
  return clientOf(server.baseUrl.replace('http:', 'https:'), limits);
}

const badRequest = 'HTTP/1.1 400 Bad Request\r\n\r\n';

it.each<[string, string, () => ServiceClient | Promise<ServiceClient>]>([
  [
    'to a port without a listener',
    'refused',
    async () => clientOf(`http://127.0.0.1:${await freePort()}/api/v1`),
  ],
  ['to an unknown host', 'dns', () => clientOf('http://service.invalid/api/v1')],
  [
    'with a failed TLS handshake',
    'tls',
    () => clientOverTls((socket) => socket.once('data', () => socket.end(badRequest))),
  ],
  [
    'with a connection that does not open in time',
    'timeout',
    () => clientOverTls(() => {}, { connectMilliseconds: 500 }),
  ],
])('a call %s is retried without cost', async (_, type, connect) => {
  const failure = await failureOf((await connect()).bulkMatch({ details }));
  expect(verdictOf(failure)).toEqual([`not-sent.${type}`, 'retry', false]);
});

it('a call that is abandoned before it was sent is retried without cost', async () => {
  const server = await serve(answering(httpAnswer(200, good)));
  const failure = await failureOf(clientOf(server.baseUrl).bulkMatch({ details }, AbortSignal.abort()));
  expect(verdictOf(failure)).toEqual(['not-sent.aborted', 'retry', false]);
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

const cutOff = httpAnswer(200, good, { 'content-length': String(good.length + 40) });
const bomb = httpAnswer(200, gzipSync(Buffer.alloc(5_000_000)), { 'content-encoding': 'gzip' });
const coded = httpAnswer(200, deflateRawSync(good), { 'content-encoding': 'x-own' });

it.each<[string, object, ...Parameters<typeof failsWith>]>([
  ['the connection is reset', { type: 'connection-lost' }, (socket) => socket.resetAndDestroy()],
  [
    'its response is cut off',
    { type: 'connection-lost', httpStatus: 200 },
    (socket) => void socket.end(cutOff),
  ],
  ['no response begins before the deadline', { type: 'timeout' }, () => {}, { callTimeoutSeconds: 0.3 }],
  [
    'its response stops in the middle',
    { type: 'timeout' },
    answering('HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\n{'),
    { silenceMilliseconds: 200 },
  ],
  [
    'its small response unpacks to more than is allowed',
    { type: 'answer-too-large' },
    answering(bomb),
    { answerBytes: 1_000_000 },
  ],
  ['its response has an unknown content encoding', { type: 'unreadable-answer' }, answering(coded)],
])('a call is unknown, and sent once, if %s', async (_, expected, onRequest, limits) => {
  const { failure, server } = await failsWith(onRequest, limits);
  expect(failure).toMatchObject({ ...expected, disposition: 'unknown', mayHaveBeenBilled: true });
  expect(server.requests).toHaveLength(1);
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

it('a call is unknown if it is abandoned in flight', async () => {
  const controller = new AbortController();
  const server = await serve(() => controller.abort());
  const failure = await failureOf(clientOf(server.baseUrl).bulkMatch({ details }, controller.signal));
  expect(verdictOf(failure)).toEqual(['aborted', 'unknown', true]);
});

it.each([
  [
    'a 422 is recognised as a refusal although its response never ends',
    'HTTP/1.1 422 Status\r\ncontent-length: 100\r\n\r\n{"error"',
    ['validation', 'reject', false],
  ],
  [
    'a redirect is not followed, because another host would get the key',
    httpAnswer(307, '', { location: 'http://127.0.0.1:9/' }),
    ['redirected', 'pause', false],
  ],
])('%s', async (_, answer, expected) => {
  const { failure } = await failsWith(answering(answer), { silenceMilliseconds: 200 });
  expect(verdictOf(failure)).toEqual(expected);
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
