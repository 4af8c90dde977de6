import { createHash } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify';
import { killPoint } from '../observe/kill-point.ts';
import type { Logger } from '../observe/log.ts';
import { storeDelivery } from '../warehouse/deliveries.ts';
import type { Warehouse } from '../warehouse/database.ts';
import { isDatabaseAway } from '../warehouse/failure.ts';
import { BodyReader, BodyRefused } from './body-reader.ts';

export interface ReceiverSettings {
  /** Its pool must fail fast: a delivery that cannot be stored now is better sent again. */
  readonly warehouse: Warehouse;
  readonly host: string;
  /** 0: a free one. */
  readonly port: number;
  /** Told after a delivery is stored and answered; never waited for. */
  readonly onStored: (runId: string) => void;
  readonly log: Logger;
}

export interface RunningReceiver {
  readonly host: string;
  readonly port: number;
  /** Takes no new connection, answers what has arrived, and ends. */
  close(): Promise<void>;
}

/** Path below which deliveries arrive; the token of an attempt follows. */
export const webhookPath = '/webhooks/';

/** A waterfall's result for ten people, with all vendors, is some hundred KB. */
const longestBody = 2 * 1_048_576;
/** Of all deliveries that are arriving at once: beyond it the service is asked to come again. */
const bytesInMemory = 64 * 1_048_576;
const mostRequestsAtOnce = 1_000;
const tokenForm = /^[\w-]{20,128}$/;

/**
 * Receives deliveries: raw bytes and their hash into the inbox in one commit, then 2xx, then the wake-up. Nothing is parsed
 * and nothing decompressed here: what cannot be understood is kept and looked at later.
 *
 * The address is all that shows who may deliver, since the service signs nothing. Only the token's hash is stored and
 * looked up, so neither the database nor the time that a look-up takes tells anything of a token; whatever is wrong with
 * one gets the same answer.
 */
export async function startReceiver(settings: ReceiverSettings): Promise<RunningReceiver> {
  const server = createServer(settings);
  await server.listen({ host: settings.host, port: settings.port });
  const address = server.server.address() as AddressInfo;
  return { host: settings.host, port: address.port, close: () => server.close() };
}

function createServer({ warehouse, onStored, log }: ReceiverSettings): FastifyInstance {
  const server = fastify({
    // Its own log has addresses in it, and with them tokens.
    logger: false,
    bodyLimit: longestBody,
    routerOptions: { maxParamLength: 500 },
    // Somebody who sends slowly, or nothing, is cut off; honest deliveries take milliseconds.
    connectionTimeout: 15_000,
    requestTimeout: 10_000,
    keepAliveTimeout: 5_000,
    forceCloseConnections: 'idle',
    http: { headersTimeout: 5_000, maxHeaderSize: 16_384, connectionsCheckingInterval: 1_000 },
    return503OnClosing: true,
  });
  server.server.maxConnections = 4_000;

  const bodies = new BodyReader({ longestBody, bytesInMemory });
  server.removeAllContentTypeParsers();
  server.addContentTypeParser('*', (request: FastifyRequest, payload: IncomingMessage) =>
    bodies.read(payload, request.headers['content-length']),
  );

  let atOnce = 0;
  server.addHook('onRequest', async (request, reply) => {
    if (!request.url.startsWith(webhookPath)) return;
    if (atOnce >= mostRequestsAtOnce) {
      await reply.code(503).header('retry-after', '5').header('connection', 'close').send(busy);
      return;
    }
    atOnce += 1;
    reply.raw.once('close', () => (atOnce -= 1));
  });

  server.post(`${webhookPath}:token`, async (request, reply) => {
    const { token } = request.params as { token: string };
    const body = Buffer.isBuffer(request.body) ? request.body : Buffer.alloc(0);
    killPoint('delivery-arrived');
    const stored = await storeDelivery(warehouse, {
      tokenHash: createHash('sha256')
        .update(tokenForm.test(token) ? token : '')
        .digest(),
      body,
      contentEncoding: encodingOf(request),
    });
    bodies.release(body);
    if (!stored) return notFound(reply);
    killPoint('delivery-stored');
    reply.raw.once('finish', () => {
      killPoint('delivery-answered');
      onStored(stored.runId);
    });
    return reply.code(200).send({ received: true });
  });
  server.get('/healthz', () => ({ alive: true }));
  server.get('/readyz', async (_, reply) => {
    await warehouse.pool.query('select 1');
    return reply.send({ ready: true });
  });
  server.setNotFoundHandler((_, reply) => notFound(reply));

  server.setErrorHandler((error, request, reply) => {
    if (Buffer.isBuffer(request.body)) bodies.release(request.body);
    if (error instanceof BodyRefused) {
      return reply.code(error.statusCode).header('connection', 'close').send({ error: error.message });
    }
    const { statusCode } = error as { statusCode?: number };
    if (statusCode !== undefined && statusCode < 500) {
      return reply.code(statusCode).header('connection', 'close').send({ error: 'bad request' });
    }
    if (!isDatabaseAway(error)) log.error({ err: error }, 'a delivery could not be stored');
    return reply.code(503).header('retry-after', '10').send(unavailable);
  });
  return server;
}

const busy = { error: 'too many deliveries at once: send it again later' };
const unavailable = { error: 'deliveries cannot be stored now: send it again later' };

function notFound(reply: FastifyReply): FastifyReply {
  return reply.code(404).send({ error: 'not found' });
}

function encodingOf(request: FastifyRequest): string | undefined {
  return request.headers['content-encoding']?.slice(0, 50);
}
