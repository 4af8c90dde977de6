import type { IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import fastify, { type FastifyInstance, type FastifyReply } from 'fastify';
import { z } from 'zod';
import { createFaults, scenarioSchema, type FaultRule, type Scenario } from './faults.ts';
import { createLateResults } from './late-results.ts';
import { createPeopleEnrichment, type CompletedCall } from './people-enrichment.ts';
import { createPersonWriter } from './person-json.ts';
import { Population } from './population.ts';
import { parseWindowLimits, RateWindows } from './rate-windows.ts';
import {
  errorAnswer,
  failedRefusal,
  invalidRequest,
  jsonType,
  notFoundRefusal,
  outOfCredits,
  requestedRefusal,
  tooManyCalls,
  type SandboxAnswer,
  type Refusal,
  invalidKey,
  invalidToken,
  missingCredential,
} from './refusals.ts';
import { parseJson, Store, type LoggedCall } from './store.ts';

/** Default API key of the sandbox. It needs no secrecy, because the sandbox has only invented people. */
export const defaultApiKey = 'sandbox-key';

/** User of the API key: the interface document says that a key acts as the earliest-created admin. */
const admin = { id: '5b00000000000000000000a1', first_name: 'Mina', last_name: 'Clarke', is_admin: true };

/** Options of `enrich sandbox`. `latency` and `lateDelay` are in milliseconds. */
export interface SandboxOptions {
  readonly port?: number;
  readonly seed?: number;
  readonly matchRate?: number;
  readonly personBytes?: number;
  readonly rateLimits?: string;
  readonly apiKey?: string;
  readonly latency?: number;
  readonly lateDelay?: number;
  readonly scenario?: Scenario | undefined;
  readonly stateDirectory?: string;
  readonly now?: () => number;
}

export type RunningSandbox = Awaited<ReturnType<typeof startSandbox>>;

/** Starts a sandbox on 127.0.0.1. @returns its URLs, its log of calls and bills, and its faults */
export async function startSandbox(options: SandboxOptions = {}) {
  const sandbox = createSandbox(options);
  const server = fastify({
    bodyLimit: 1_048_576,
    exposeHeadRoutes: false,
    // A path that cannot be decoded is answered as an unknown path.
    frameworkErrors: (_error, _request, reply) => void sandbox.fail(reply, notFoundRefusal),
    routerOptions: { maxParamLength: 500 },
  });
  // Bodies stay text, so that the sandbox's own code refuses malformed ones.
  server.removeAllContentTypeParsers();
  server.addContentTypeParser('*', { parseAs: 'string' }, (_request, body, done) => done(null, body));
  sandbox.addServiceRoutes(server);
  sandbox.addControlRoutes(server);
  await server.listen({ host: '127.0.0.1', port: options.port ?? 0 });
  const root = `http://127.0.0.1:${(server.server.address() as AddressInfo).port}`;
  return {
    baseUrl: `${root}/api/v1`,
    controlUrl: `${root}/sandbox`,
    log: sandbox.store,
    faults: sandbox.faults,
    close: async () => {
      sandbox.late.close();
      server.server.closeAllConnections();
      await server.close();
    },
  };
}

interface Incoming {
  readonly headers: IncomingHttpHeaders;
  readonly query: Readonly<Record<string, string>>;
  readonly parameters: Readonly<Record<string, string>>;
  readonly body: string;
}

interface Operation {
  readonly method: 'GET' | 'POST';
  /** Path of the operation without its parameter. The log, rate windows, scopes and scenarios use it as the name. */
  readonly path: string;
  readonly parameter?: string;
  /** Name of the operation in usage statistics. Only operations with this name are logged and count in rate windows. */
  readonly usageName?: string;
  readonly answer: (incoming: Incoming, fault: FaultRule) => CompletedCall | Refusal;
}

const nothing: SandboxAnswer = { status: 0, contentType: jsonType, body: '', headers: {} };
const unbilled = { people: 0, credits: '0', billed: [], requestId: null };

function createSandbox(options: SandboxOptions) {
  const { seed = 1, now = Date.now, latency = 0, apiKey = defaultApiKey, rateLimits = '600/hour' } = options;
  const store = new Store(options.stateDirectory);
  const faults = createFaults(seed, () => store.credits(), options.scenario ?? {});
  const late = createLateResults({ seed, store, faults, now, delay: options.lateDelay ?? 3_000 });
  const population = new Population({ seed, matchRate: options.matchRate });
  const writePerson = createPersonWriter(options.personBytes ?? 6_000);
  const windows = new RateWindows(parseWindowLimits(rateLimits));
  windows.replay(store.calls(), Date.now());
  const people = createPeopleEnrichment({ seed, population, writePerson, late, now });

  /** Paths that the interface document does not name are those of the real service. */
  const operations: readonly Operation[] = [
    {
      method: 'POST',
      path: '/people/match',
      usageName: '["api/v1/people", "match"]',
      answer: ({ query }, fault) => people.match(query, fault),
    },
    {
      method: 'POST',
      path: '/people/bulk_match',
      usageName: '["api/v1/people", "bulk_match"]',
      answer: ({ query, body }, fault) => people.bulkMatch(query, body, fault),
    },
    {
      method: 'GET',
      path: '/webhook_result',
      parameter: 'request_id',
      usageName: '["api/v1/webhook_result", "show"]',
      answer: ({ parameters: { request_id: requestId = '' } }) => {
        const result = late.poll(requestId);
        return typeof result === 'string' ? { body: result, billing: { ...unbilled, requestId } } : result;
      },
    },
    { method: 'GET', path: '/auth/health', answer: () => json({ healthy: true, is_logged_in: true }) },
    { method: 'GET', path: '/users/api_profile', answer: () => json(admin) },
    { method: 'POST', path: '/usage_stats/api_usage_stats', answer: apiUsage },
    { method: 'POST', path: '/usage_stats/credit_usage_stats', answer: creditUsage },
  ];

  function addServiceRoutes(server: FastifyInstance): void {
    server.setNotFoundHandler((_request, reply) => fail(reply, notFoundRefusal));
    server.setErrorHandler((error: { readonly statusCode?: number }, _request, reply) =>
      fail(reply, (error.statusCode ?? 500) < 500 ? invalidRequest() : failedRefusal),
    );
    for (const operation of operations) {
      const parameter = operation.parameter === undefined ? '' : `/:${operation.parameter}`;
      server.route({
        method: operation.method,
        url: `/api/v1${operation.path}${parameter}`,
        handler: (request, reply) =>
          handle(operation, reply, {
            headers: request.headers,
            query: request.query as Incoming['query'],
            parameters: request.params as Incoming['parameters'],
            body: typeof request.body === 'string' ? request.body : '',
          }),
      });
    }
  }

  /** Adds routes for the operator of the sandbox. Scenarios do not apply to them. */
  function addControlRoutes(server: FastifyInstance): void {
    server.get('/sandbox/bill', () => store.bill());
    server.get('/sandbox/log', ({ query }) =>
      store.calls(Number((query as Incoming['query'])['since'] ?? 0)),
    );
    server.get('/sandbox/late', () => store.lateResults());
    server.get('/sandbox/deliveries', () => store.deliveries());
    server.put('/sandbox/scenario', (request, reply) => {
      const scenario = scenarioSchema.safeParse(parseJson(String(request.body)));
      if (!scenario.success) return reply.code(422).send({ error: z.prettifyError(scenario.error) });
      faults.set(scenario.data);
      return reply.code(204).send();
    });
  }

  function fail(reply: FastifyReply, refusal: Refusal): FastifyReply {
    const { status, contentType, body } = errorAnswer(now(), refusal);
    return reply.code(status).type(contentType).send(body);
  }

  /** Handles a call. The order is: credential, fault, rate limit, credits, log, answer. */
  async function handle(
    operation: Operation,
    reply: FastifyReply,
    incoming: Incoming,
  ): Promise<FastifyReply> {
    const { 'x-api-key': key, authorization } = incoming.headers;
    // As in the interface document, a key is refused as a bearer token. The sandbox issues no tokens.
    const withoutKey = authorization === undefined ? missingCredential : invalidToken;
    if (key !== apiKey)
      return send(reply, errorAnswer(now(), key === undefined ? withoutKey : invalidKey), {});
    const fault = faults.next(operation.path, incoming.body || JSON.stringify(incoming.query));
    return send(reply, await answer(operation, incoming, fault), fault);
  }

  async function answer(operation: Operation, incoming: Incoming, fault: FaultRule): Promise<SandboxAnswer> {
    const { path, usageName } = operation;
    const arrivedAt = Date.now();
    const time = now();
    const log = (call: Omit<LoggedCall, 'sequence' | 'at' | 'path'>): void => {
      if (usageName !== undefined) store.addCall({ ...call, at: arrivedAt, path });
    };
    const others = fault.used_by_others;
    // A 429 that a fault causes does not count in a window, so that the log and the windows agree.
    const isCounted = usageName !== undefined && fault.status !== 429;
    const full = isCounted ? windows.count(path, arrivedAt, others) : undefined;
    const headers = usageName === undefined ? {} : windows.headers(path, arrivedAt, others);
    const refuse = (refusal: Refusal): SandboxAnswer => {
      log({ ...unbilled, status: refusal.status });
      return errorAnswer(time, { ...refusal, headers: { ...headers, ...refusal.headers } });
    };
    if (full) return refuse(tooManyCalls(path, full.limit, String(full.seconds)));
    const requested = requestedRefusal(fault, path, time);
    if (requested && requested.status < 500) return refuse(requested);
    const done = operation.answer(incoming, fault);
    if ('status' in done) return refuse(requested ?? done);
    const { billing = unbilled, makeLateResults } = done;
    const left = faults.creditsLeft();
    if (left !== undefined && Number(billing.credits) > left)
      return refuse(outOfCredits(faults.outOfCreditsStatus()));
    log({ ...billing, status: requested?.status ?? 200 });
    await makeLateResults?.();
    if (requested) return errorAnswer(time, { ...requested, headers });
    if (fault.answer === 'reset') return nothing;
    const body = fault.answer === 'empty' ? '' : done.body;
    return fault.answer === 'html'
      ? { status: 200, contentType: 'text/html', body: '<html><body>Please stand by</body></html>', headers }
      : { status: 200, contentType: jsonType, body, headers };
  }

  /** Sends an answer after the latency, or cuts or resets it as the fault says. */
  async function send(reply: FastifyReply, sent: SandboxAnswer, fault: FaultRule): Promise<FastifyReply> {
    const wait = latency + (fault.delay ?? 0);
    if (wait > 0) await sleep(wait);
    const { status, contentType, body } = sent;
    const date = new Date(now()).toUTCString();
    const headers = { ...sent.headers, 'content-type': contentType, date };
    const isCut = status === 200 && fault.answer === 'cut';
    if (status !== 0 && !isCut) return reply.code(status).headers(headers).send(body);
    reply.hijack();
    if (isCut) {
      reply.raw.writeHead(status, { ...headers, 'content-length': Buffer.byteLength(body) });
      reply.raw.write(body.slice(0, Math.floor(body.length / 2)), () => reply.raw.destroy());
    } else {
      reply.raw.socket?.resetAndDestroy();
    }
    return reply;
  }

  function apiUsage(): CompletedCall {
    const at = Date.now();
    const usage = operations.flatMap(({ path, usageName }) =>
      usageName === undefined
        ? []
        : [[usageName, windows.usage(path, at, faults.usedByOthers(path))] as const],
    );
    return json(Object.fromEntries(usage));
  }

  /** Answers with the credits used. The credit cycle is the month. */
  function creditUsage(): CompletedCall {
    const consumed = store.credits();
    const left = faults.creditsLeft();
    const limit = left === undefined ? null : consumed + left;
    const date = new Date(now());
    const day = (month: number, dayOfMonth: number) =>
      new Date(Date.UTC(date.getUTCFullYear(), month, dayOfMonth)).toISOString().slice(0, 10);
    return json({
      credit_usage_stats: { enrichment: { limit, consumed, left_over: left ?? null } },
      current_credit_cycle: {
        start_date: day(date.getUTCMonth(), 1),
        end_date: day(date.getUTCMonth() + 1, 0),
      },
    });
  }

  return { store, faults, late, fail, addServiceRoutes, addControlRoutes };
}

function json(value: object): CompletedCall {
  return { body: JSON.stringify(value) };
}
