import { setTimeout as sleep } from 'node:timers/promises';
import type { FastifyError, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { CallHandler, Handler, SentAnswer } from './call-handler.ts';
import { errorAnswer, type Refusal } from '../faults/failures.ts';
import { operations, type Operation, type OperationName } from '../interface/operations.ts';

export interface SendingOptions {
  /** Milliseconds before every answer. */
  readonly latency: number;
  /** The sandbox's clock, for the `date` header. */
  readonly now: () => number;
}

/** Adds the routes of the service, below `/api/v1`. */
export function addServiceRoutes(
  server: FastifyInstance,
  callHandler: CallHandler,
  handlers: Readonly<Record<OperationName, Handler>>,
  options: SendingOptions,
): void {
  const arrivals = new WeakMap<FastifyRequest, number>();
  // The time of arrival is that of the first line, before the body.
  server.addHook('onRequest', (request, _reply, done) => {
    arrivals.set(request, Date.now());
    done();
  });
  server.setNotFoundHandler((_request, reply) => fail(reply, options.now(), unknownRoute));
  // Maps errors of the framework to statuses of the interface: an invalid request, or a fault of the sandbox.
  server.setErrorHandler((error: FastifyError, _request, reply) =>
    fail(
      reply,
      options.now(),
      (error.statusCode ?? 500) < 500
        ? { status: 422, code: 'REQUEST.VALIDATION.INVALID', message: 'The request is not as described.' }
        : { status: 500, code: 'REQUEST.PROCESSING.FAILED', message: 'The call failed.' },
    ),
  );
  for (const name of Object.keys(operations) as OperationName[]) {
    const operation: Operation = operations[name];
    server.route({
      method: operation.method,
      url: `/api/v1${operation.path.replace(/\{(\w+)\}/g, ':$1')}`,
      handler: async (request, reply) => {
        const incoming = {
          headers: request.headers,
          query: request.query,
          parameters: request.params,
          body: typeof request.body === 'string' ? request.body : '',
          arrivedAt: arrivals.get(request) ?? Date.now(),
        };
        return send(reply, await callHandler.handle(operation, incoming, handlers[name]), options);
      },
    });
  }
}

const unknownRoute: Refusal = { status: 404, code: 'REQUEST.ROUTE.NOT_FOUND', message: 'Not found.' };

/** Refuses a path that cannot be decoded like an unknown path, instead of the framework's own answer. */
export function refuseUnreadablePath(
  now: () => number,
): (error: Error, request: unknown, reply: FastifyReply) => void {
  return (_error, _request, reply) => void fail(reply, now(), unknownRoute);
}

function fail(reply: FastifyReply, now: number, refusal: Refusal): FastifyReply {
  const { status, contentType, body } = errorAnswer(now, 'migrated', refusal);
  return reply.code(status).type(contentType).send(body);
}

async function send(
  reply: FastifyReply,
  answer: SentAnswer,
  { latency, now }: SendingOptions,
): Promise<FastifyReply> {
  const wait = latency + answer.delayMilliseconds;
  if (wait > 0) await sleep(wait);
  const headers = {
    ...answer.headers,
    'content-type': answer.contentType,
    date: new Date(now()).toUTCString(),
  };
  if (answer.ending === 'whole') return reply.code(answer.status).headers(headers).send(answer.body);
  reply.hijack();
  if (answer.ending === 'cut') {
    reply.raw.writeHead(answer.status, { ...headers, 'content-length': Buffer.byteLength(answer.body) });
    const half = answer.body.slice(0, Math.floor(answer.body.length / 2));
    reply.raw.write(half, () => reply.raw.destroy());
  } else {
    reply.raw.socket?.resetAndDestroy();
  }
  return reply;
}
