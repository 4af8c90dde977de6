import type { AddressInfo } from 'node:net';
import fastify, { type FastifyInstance, type FastifyReply } from 'fastify';
import { killPoint } from '../telemetry/kill-point.ts';
import type { Logger } from '../telemetry/log.ts';
import type { DeliveryResult } from '../telemetry/process-metrics.ts';
import { storeDelivery } from './deliveries.ts';
import type { Warehouse } from '../db/database.ts';
import { isDatabaseAway } from '../db/postgres-errors.ts';
import { hashToken } from '../ledger/webhook-token.ts';
import { BodyReader, BodyRefused } from './body-reader.ts';

export interface ReceiverSettings {
  /** Its pool must fail fast: a delivery that cannot be stored now is better sent again. */
  readonly warehouse: Warehouse;
  readonly host: string;
  /** 0: a free one. */
  readonly port: number;
  /** Told once a delivery is stored; never waited for. */
  readonly onStored: (runId: string) => void;
  /** Counts what was done with each delivery. */
  readonly count?: ((result: DeliveryResult) => void) | undefined;
  readonly log: Logger;
}

export interface RunningReceiver {
  readonly host: string;
  readonly port: number;
  /** Takes no new connection, answers what has arrived, cuts off who is still sending after five seconds, and ends. */
  close(): Promise<void>;
}

/** Path below which deliveries arrive; the token of an attempt follows. */
export const webhookPath = '/webhooks/';

/** A waterfall's result for ten people, with all vendors, is some hundred KB. */
const longestBody = 2 * 1_048_576;
/** Of all deliveries that are arriving at once: beyond it the service is asked to come again. */
const bytesInMemory = 64 * 1_048_576;
/** Less than the ten seconds after which Docker kills what it has asked to end. */
const drainMilliseconds = 5_000;
const tokenForm = /^[\w-]{20,128}$/;

/**
 * Receives deliveries: commits the raw bytes and their hash to the inbox, answers 2xx, then wakes the run. The receiver
 * neither parses nor decompresses a body: the drain does.
 *
 * The token in the address authorises a delivery, because the service signs nothing. Only the token's hash is stored
 * and looked up, so neither the database nor the time of a look-up reveals a token. Every wrong token gets the same
 * answer.
 */
export async function startReceiver(settings: ReceiverSettings): Promise<RunningReceiver> {
  const server = createServer(settings);
  await server.listen({ host: settings.host, port: settings.port });
  const address = server.server.address() as AddressInfo;
  return { host: settings.host, port: address.port, close: () => drain(server) };
}

function createServer({ warehouse, onStored, count = () => {}, log }: ReceiverSettings): FastifyInstance {
  const server = fastify({
    // Its own log has addresses in it, and with them tokens.
    logger: false,
    routerOptions: { maxParamLength: 500 },
    // A person who sends slowly, or nothing, is cut off; honest deliveries take milliseconds.
    connectionTimeout: 15_000,
    requestTimeout: 10_000,
    keepAliveTimeout: 5_000,
    forceCloseConnections: 'idle',
    http: { headersTimeout: 5_000, maxHeaderSize: 16_384, connectionsCheckingInterval: 1_000 },
    return503OnClosing: true,
    // An address that cannot be decoded.
    frameworkErrors: (_error, _request, reply) => void notFound(reply),
  });
  server.server.maxConnections = 4_000;

  const bodies = new BodyReader({ longestBody, bytesInMemory });
  // Bodies are left unread until a delivery's own handler reads them, and kept whatever type they say they have:
  // fastify would refuse a type that it cannot read.
  server.removeAllContentTypeParsers();
  server.addContentTypeParser('*', (_request, _payload, done) => done(null));
  server.addHook('onRequest', async ({ raw }) => {
    delete raw.headers['content-type'];
  });

  server.post(`${webhookPath}:token`, async (request, reply) => {
    const { token } = request.params as { token: string };
    const stored = await bodies.read(request.raw, request.headers['content-length'], (body) => {
      killPoint('delivery-arrived');
      return storeDelivery(warehouse, {
        tokenHash: hashToken(tokenForm.test(token) ? token : ''),
        body,
        contentEncoding: request.headers['content-encoding']?.slice(0, 50),
      });
    });
    if (!stored) {
      count('not-found');
      return notFound(reply);
    }
    count('stored');
    killPoint('delivery-stored');
    // Also if the client no longer waits for the answer.
    onStored(stored.runId);
    reply.raw.once('finish', () => killPoint('delivery-answered'));
    return reply.code(200).send({ received: true });
  });
  server.get('/healthz', () => ({ alive: true }));
  server.get('/readyz', async (_, reply) => {
    await warehouse.pool.query('select 1');
    return reply.send({ ready: true });
  });
  server.setNotFoundHandler((_, reply) => notFound(reply));

  server.setErrorHandler((error, request, reply) => {
    if (error instanceof BodyRefused) {
      count(error.statusCode === 413 ? 'refused' : 'unavailable');
      return refuse(reply.header('connection', 'close'), error.statusCode, error.message);
    }
    const { statusCode } = error as { statusCode?: number };
    if (statusCode !== undefined && statusCode < 500) return notFound(reply);
    count('unavailable');
    // Where the body is not complete, its sender broke off or was cut off, and waits for no answer.
    if (request.raw.complete && !isDatabaseAway(error)) {
      log.error({ err: error }, 'a delivery could not be stored');
    }
    return refuse(reply, 503, 'deliveries cannot be stored now: send it again later');
  });
  return server;
}

async function drain(server: FastifyInstance): Promise<void> {
  // Node closes those that are idle at the beginning, and not those that are once they have got their last answer.
  const idle = setInterval(() => server.server.closeIdleConnections(), 100);
  // It also no longer looks for connections that send too slowly: one of them could hold it forever.
  const deadline = setTimeout(() => server.server.closeAllConnections(), drainMilliseconds);
  await server.close();
  clearInterval(idle);
  clearTimeout(deadline);
}

function refuse(reply: FastifyReply, statusCode: 413 | 503, error: string): FastifyReply {
  if (statusCode === 503) reply.header('retry-after', '10');
  return reply.code(statusCode).send({ error });
}

function notFound(reply: FastifyReply): FastifyReply {
  return reply.code(404).send({ error: 'not found' });
}
