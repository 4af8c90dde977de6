import type { AddressInfo } from 'node:net';
import fastify, { type FastifyInstance, type FastifyReply } from 'fastify';
import { killPoint } from '../telemetry/kill-point.ts';
import type { Logger } from '../telemetry/log.ts';
import type { DeliveryResult } from '../telemetry/process-metrics.ts';
import { storeDeliveries, type ArrivedDelivery, type StoredDelivery } from './deliveries.ts';
import type { Warehouse } from '../db/database.ts';
import { GroupCommit } from '../db/group-commit.ts';
import { isDatabaseAway } from '../db/postgres-errors.ts';
import { hashToken } from '../ledger/webhook-token.ts';
import { LimitedBodyReader, BodyRefused } from './limited-body-reader.ts';

export interface ReceiverSettings {
  /** Its pool must fail fast: the service then sends the delivery again. */
  readonly warehouse: Warehouse;
  readonly host: string;
  /** 0: a free one. */
  readonly port: number;
  /** Called after a delivery is stored; the receiver does not wait for it. */
  readonly onStored: (runId: string) => void;
  readonly count?: ((result: DeliveryResult) => void) | undefined;
  readonly log: Logger;
}

export interface RunningReceiver {
  readonly host: string;
  readonly port: number;
  /** Accepts no new connections, answers requests that have arrived, and aborts senders after five seconds. */
  close(): Promise<void>;
}

/** Path of deliveries; the token of an attempt follows. */
export const webhookPath = '/webhooks/';

/** A waterfall's result for ten people, with all vendors, is some hundred KB. */
const longestBody = 2 * 1_048_576;
/** Bytes of all unfinished deliveries; above it the receiver answers 503. */
const bytesInMemory = 64 * 1_048_576;
/** Less than the ten seconds after which Docker kills a stopping container. */
const drainMilliseconds = 5_000;
const tokenForm = /^[\w-]{20,128}$/;

/**
 * Receives deliveries: commits the raw bytes and their hash to the inbox, answers 2xx, then wakes the run. Deliveries
 * that arrive together are committed together, and each is answered after its own commit. The receiver
 * neither parses nor decompresses a body: the drain does.
 *
 * The token in the address authorises a delivery, because the service signs nothing. Only the token's hash is stored
 * and looked up, so neither the database nor the time of a look-up reveals a token. Every wrong token gets the same
 * answer.
 */
export async function startReceiver(settings: ReceiverSettings): Promise<RunningReceiver> {
  const server = createServer(settings);
  try {
    await server.listen({ host: settings.host, port: settings.port });
  } catch (error) {
    await server.close();
    throw error;
  }
  const address = server.server.address() as AddressInfo;
  return { host: settings.host, port: address.port, close: () => drain(server) };
}

function createServer({ warehouse, onStored, count = () => {}, log }: ReceiverSettings): FastifyInstance {
  const server = fastify({
    // Fastify's own log has addresses, and with them tokens.
    logger: false,
    // Services and proxies can add a slash to the address.
    routerOptions: { maxParamLength: 500, ignoreTrailingSlash: true },
    // Aborts slow and silent senders; deliveries take milliseconds.
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

  const bodies = new LimitedBodyReader({ longestBody, bytesInMemory });
  const deliveries = new GroupCommit<ArrivedDelivery, StoredDelivery | undefined>({
    commit: (group) => storeDeliveries(warehouse, group),
    bytesOf: ({ body }) => body.length,
    longestGroup: 100,
    bytesPerGroup: 4 * 1_048_576,
  });
  // The delivery's handler reads the body, whatever its content type. Fastify would refuse types that it cannot parse.
  server.removeAllContentTypeParsers();
  server.addContentTypeParser('*', (_request, _payload, done) => done(null));
  server.addHook('onRequest', async ({ raw }) => {
    delete raw.headers['content-type'];
  });

  server.post(`${webhookPath}:token`, async (request, reply) => {
    const { token } = request.params as { token: string };
    const stored = await bodies.read(request.raw, request.headers['content-length'], (body) => {
      killPoint('delivery-arrived');
      return deliveries.commit({
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
    // Counted even if the client no longer waits for the answer.
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
    // The sender of an incomplete body has broken off or was aborted, and waits for no answer.
    if (request.raw.complete && !isDatabaseAway(error)) {
      log.error({ err: error }, 'a delivery could not be stored');
    }
    return refuse(reply, 503, 'deliveries cannot be stored now: send it again later');
  });
  return server;
}

async function drain(server: FastifyInstance): Promise<void> {
  // Node closes connections that are idle now, but not connections that become idle after their last answer.
  const idle = setInterval(() => server.server.closeIdleConnections(), 100);
  // Node also stops checking for slow senders: one of them could keep the process alive forever.
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
