import type { AddressInfo } from 'node:net';
import fastify from 'fastify';
import type { FastifyInstance, FastifyReply } from 'fastify';
import { killPoint } from '../telemetry/kill-point.ts';
import type { Logger } from '../telemetry/log.ts';
import type { DeliveryResult } from '../telemetry/process-metrics.ts';
import { storeDeliveries, type ArrivedDelivery, type StoredDelivery } from './deliveries.ts';
import type { Warehouse } from '../db/database.ts';
import { GroupCommit } from '../db/group-commit.ts';
import { isDatabaseUnreachable } from '../db/postgres-errors.ts';
import { hashToken } from '../ledger/admit.ts';

interface ReceiverSettings {
  /** The warehouse. Its pool must fail fast, because the service sends a delivery again after an error. */
  readonly warehouse: Warehouse;
  readonly host: string;
  /** Port of the receiver; 0: any free port. */
  readonly port: number;
  /** Called after a delivery is stored; the receiver does not wait for it. */
  readonly onStored: (runId: string) => void;
  readonly count?: ((result: DeliveryResult) => void) | undefined;
  readonly log: Logger;
}

/** A receiver that listens. */
export interface RunningReceiver {
  readonly host: string;
  readonly port: number;
  /** Refuses new connections, answers arrived requests, and disconnects slow senders after five seconds. */
  close(): Promise<void>;
}

/** Path of the webhook URL. The token of an attempt follows. */
export const webhookPath = '/webhooks/';

/** Maximum size of a delivery in bytes. A waterfall result for ten people, with all vendors, has some hundred KB. */
const longestBody = 2 * 1_048_576;
/** Maximum bytes of deliveries that are not stored yet. Above this limit, the receiver answers 503. */
const bytesInMemory = 64 * 1_048_576;
/** Maximum number of deliveries, and of bytes, that one transaction stores. */
const [deliveriesPerGroup, bytesPerGroup] = [100, 4 * 1_048_576];
/** Memory that a request needs without its body. Counting it also limits the number of empty requests. */
const bytesOfRequest = 16_384;
/** Maximum time for the last requests at shutdown. Docker kills a stopping container after ten seconds. */
const drainMilliseconds = 5_000;
const tokenForm = /^[\w-]{20,128}$/;

/**
 * Receives webhooks: commits the raw bytes to the inbox, answers 2xx, then wakes the run. Simultaneous deliveries share
 * a commit. The token in the URL authorises a delivery, because the service signs nothing; every wrong token gets the
 * same answer.
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

/** The HTTP server: deliveries by POST, `/healthz`, and `/readyz`, which needs the database. */
function createServer({ warehouse, onStored, count = () => {}, log }: ReceiverSettings): FastifyInstance {
  const server = fastify({
    // Fastify's log would contain URLs, and the URLs contain tokens.
    logger: false,
    // Services and proxies can append a slash to the URL.
    routerOptions: { maxParamLength: 500, ignoreTrailingSlash: true },
    // Disconnects slow and silent senders. A delivery takes milliseconds.
    connectionTimeout: 15_000,
    requestTimeout: 10_000,
    keepAliveTimeout: 5_000,
    forceCloseConnections: 'idle',
    http: { headersTimeout: 5_000, maxHeaderSize: 16_384, connectionsCheckingInterval: 1_000 },
    return503OnClosing: true,
    // A URL that cannot be decoded gets the same answer as an unknown token.
    frameworkErrors: (_error, _request, reply) => void notFound(reply),
  });
  server.server.maxConnections = 4_000;

  const deliveries = new GroupCommit<ArrivedDelivery, StoredDelivery | undefined>({
    commit: (group) => storeDeliveries(warehouse, group),
    longestGroup: deliveriesPerGroup,
    sizeOf: ({ body }) => Math.max(1, (deliveriesPerGroup * body.length) / bytesPerGroup),
  });
  // The handler of deliveries reads each body itself. Fastify would refuse content types that it cannot parse.
  server.removeAllContentTypeParsers();
  server.addContentTypeParser('*', (_request, _payload, done) => done(null));
  server.addHook('onRequest', async ({ raw }) => {
    delete raw.headers['content-type'];
  });
  let bytesHeld = 0;

  server.post(`${webhookPath}:token`, async (request, reply) => {
    const { token } = request.params as { token: string };
    const chunks: Buffer[] = [];
    let bytes = 0;
    /** Counts bytes in memory. @throws the refusal 413 or 503 above a limit */
    const hold = (more: number): void => {
      bytes += more;
      bytesHeld += more;
      if (bytes > longestBody + bytesOfRequest) throw refusal(413, 'the body is too large');
      if (bytesHeld > bytesInMemory) throw refusal(503, 'too many deliveries at once: send it again later');
    };
    let stored: StoredDelivery | undefined;
    try {
      hold(bytesOfRequest);
      if (Number(request.headers['content-length']) > longestBody)
        throw refusal(413, 'the body is too large');
      // The request stream stays open when this loop ends early, because destroying it would close the socket before
      // the refusal is sent.
      for await (const chunk of request.raw.iterator({ destroyOnReturn: false })) {
        hold((chunk as Buffer).length);
        chunks.push(chunk as Buffer);
      }
      killPoint('delivery-arrived');
      const tokenHash = hashToken(tokenForm.test(token) ? token : '');
      stored = await deliveries.commit({ tokenHash, body: Buffer.concat(chunks) });
    } finally {
      bytesHeld -= bytes;
    }
    if (!stored) {
      count('not-found');
      return notFound(reply);
    }
    count('stored');
    killPoint('delivery-stored');
    // A stored delivery wakes its run even if the client no longer waits for the answer.
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
    const { statusCode, message } = error as Error & { statusCode?: number };
    if (statusCode === 413 || statusCode === 503) {
      count(statusCode === 413 ? 'refused' : 'unavailable');
      return refuse(reply, statusCode, message);
    }
    if (statusCode !== undefined && statusCode < 500) return notFound(reply);
    count('unavailable');
    // The sender of an incomplete body has disconnected and waits for no answer.
    if (request.raw.complete && !isDatabaseUnreachable(error))
      log.error({ err: error }, 'a delivery could not be stored');
    return refuse(reply, 503, 'deliveries cannot be stored now: send it again later');
  });
  return server;
}

/** Stops the server within {@link drainMilliseconds}. */
async function drain(server: FastifyInstance): Promise<void> {
  // Node closes connections that are idle now, but not those that become idle after their last answer.
  const idle = setInterval(() => server.server.closeIdleConnections(), 100);
  // Node also stops checking for slow senders at shutdown, and one slow sender could keep the process alive forever.
  const deadline = setTimeout(() => server.server.closeAllConnections(), drainMilliseconds);
  await server.close();
  clearInterval(idle);
  clearTimeout(deadline);
}

/** Answers a refusal. A 503 tells the sender to try again after ten seconds. */
function refuse(reply: FastifyReply, statusCode: 413 | 503, error: string): FastifyReply {
  if (statusCode === 503) reply.header('retry-after', '10');
  // The connection is closed, because Node would read the unread rest of this body as the next request.
  return reply.code(statusCode).header('connection', 'close').send({ error });
}

/** An error that the error handler turns into this status code. */
function refusal(statusCode: 413 | 503, message: string): Error {
  return Object.assign(new Error(message), { statusCode });
}

/** One answer for unknown paths and for unknown, expired and malformed tokens, so that senders cannot guess tokens. */
function notFound(reply: FastifyReply): FastifyReply {
  return reply.code(404).send({ error: 'not found' });
}

/** Sends the wake-up of a run; throws if Temporal does not accept it. */
export type Wake = (runId: string) => Promise<void>;

/** Pause from the first delivery to the wake-up of its run, and between further wake-ups of the run. */
const firstPauseMilliseconds = 1_000;
const nextPauseMilliseconds = 60_000;
/** Maximum time at shutdown for the last signals to runs while Temporal is unreachable. */
const closeMilliseconds = 3_000;

/**
 * Combines wake-ups, because Temporal Cloud bills each signal: the first delivery wakes its run after a second, later
 * ones once a minute. A killed process loses no deliveries, because each run also applies the inbox by timer.
 */
export class WakeUps {
  readonly #wake: Wake;
  readonly #waiting = new Map<string, NodeJS.Timeout>();
  readonly #wokenAt = new Map<string, number>();
  #closed = false;

  constructor(wake: Wake) {
    this.#wake = wake;
  }

  /** Schedules the wake-up of a run, unless one is scheduled. */
  stored(runId: string): void {
    if (this.#closed || this.#waiting.has(runId)) return;
    const next = (this.#wokenAt.get(runId) ?? Number.NEGATIVE_INFINITY) + nextPauseMilliseconds;
    const pause = Math.max(firstPauseMilliseconds, next - performance.now());
    this.#waiting.set(
      runId,
      setTimeout(() => void this.#ring(runId), pause),
    );
  }

  /** Sends the scheduled wake-ups now, for at most {@link closeMilliseconds}. */
  async close(): Promise<void> {
    this.#closed = true;
    for (const timer of this.#waiting.values()) clearTimeout(timer);
    const rung = Promise.all([...this.#waiting.keys()].map((runId) => this.#wake(runId).catch(() => {})));
    this.#waiting.clear();
    await Promise.race([rung, new Promise((resolve) => setTimeout(resolve, closeMilliseconds).unref())]);
  }

  /** Wakes a run, and stores the time for the pause before its next wake-up. */
  async #ring(runId: string): Promise<void> {
    this.#waiting.delete(runId);
    this.#wokenAt.set(runId, performance.now());
    setTimeout(() => this.#wokenAt.delete(runId), nextPauseMilliseconds).unref();
    try {
      await this.#wake(runId);
    } catch {
      // Temporal is unreachable. The wake-up is tried again later, like for a new delivery.
      this.stored(runId);
    }
  }
}
