import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify';
import { z } from 'zod';
import { CallLog } from './call-log.ts';
import { errorAnswer, plainUnauthorized } from './failures.ts';
import { Population } from './population.ts';
import { RateWindows, parseWindowLimits } from './rate-window.ts';
import { Renderer } from './render.ts';
import { LateResults } from './late-results.ts';
import { LateStore } from './late-store.ts';
import { Faults, scenarioSchema, type FaultsToProduce } from './scenario.ts';
import { EnrichmentService, type Answer } from './service.ts';

export interface SandboxOptions {
  /** 0, the default: a free one. */
  readonly port?: number;
  readonly seed?: number;
  /** Numbered people; strangers come on top of them. */
  readonly people?: number;
  readonly matchRate?: number;
  readonly ambiguousRate?: number;
  /** About so many bytes of JSON a person. */
  readonly personBytes?: number;
  /** Fixed windows per endpoint: `600/hour`, `20/10s,100/minute`, `unlimited`. */
  readonly rateLimits?: string;
  readonly apiKeys?: readonly string[];
  readonly accessTokens?: readonly string[];
  /** Milliseconds that every answer takes. */
  readonly latency?: number;
  /** Milliseconds until phones and waterfall results are there, at most. */
  readonly lateDelay?: number;
  readonly scenario?: FaultsToProduce;
  /** Keeps the log of calls over restarts. */
  readonly stateDirectory?: string;
  /** Stands still or runs ahead for tests of dates. */
  readonly now?: () => number;
}

export interface RunningSandbox {
  /** Ends in `/api/v1`. */
  readonly baseUrl: string;
  /** Log, bill and faults over HTTP. */
  readonly controlUrl: string;
  readonly log: CallLog;
  readonly faults: Faults;
  close(): Promise<void>;
}

/** The key that works where no other is given. It opens nothing but invented people. */
export const defaultApiKey = 'sandbox-key';

/** Starts the enrichment service on this machine; docs/sandbox.md describes what it offers. */
export async function startSandbox(options: SandboxOptions = {}): Promise<RunningSandbox> {
  const { seed = 1, now = Date.now } = options;
  const log = new CallLog(options.stateDirectory);
  const faults = new Faults(seed, options.scenario ?? {});
  const late = new LateResults({
    seed,
    log,
    faults,
    now,
    delay: options.lateDelay ?? 3_000,
    store: new LateStore(options.stateDirectory),
  });
  const service = new EnrichmentService({
    seed,
    population: new Population({
      seed,
      people: options.people ?? 100_000,
      matchRate: options.matchRate ?? 0.82,
      ambiguousRate: options.ambiguousRate ?? 0.02,
    }),
    renderer: new Renderer(options.personBytes ?? 6_000),
    windows: new RateWindows(parseWindowLimits(options.rateLimits ?? '600/hour')),
    log,
    faults,
    late,
    now,
  });
  const server = fastify({ bodyLimit: 1_048_576, routerOptions: { maxParamLength: 500 } });
  // Bodies stay text: what is malformed is the service's to refuse, in its own words.
  server.removeAllContentTypeParsers();
  server.addContentTypeParser('*', { parseAs: 'string' }, (_request, body, done) => done(null, body));
  const credentials = {
    keys: new Set(options.apiKeys ?? [defaultApiKey]),
    tokens: new Set(options.accessTokens ?? []),
  };
  addServiceRoutes(server, service, credentials, options.latency ?? 0, now);
  addControlRoutes(server, log, faults);
  await server.listen({ host: '127.0.0.1', port: options.port ?? 0 });
  const root = `http://127.0.0.1:${(server.server.address() as AddressInfo).port}`;
  return {
    baseUrl: `${root}/api/v1`,
    controlUrl: `${root}/sandbox`,
    log,
    faults,
    close: async () => {
      late.close();
      server.server.closeAllConnections();
      await server.close();
    },
  };
}

/** The user whom keys act as: the longest-standing active admin. */
const actingUser = { id: '5b00000000000000000000a1', first_name: 'Sandbox', last_name: 'Admin' };

function addServiceRoutes(
  server: FastifyInstance,
  service: EnrichmentService,
  credentials: Credentials,
  latency: number,
  now: () => number,
): void {
  const arrivals = new WeakMap<FastifyRequest, number>();
  server.addHook('onRequest', async (request, reply) => {
    arrivals.set(request, Date.now());
    if (!request.url.startsWith('/api/v1/') || mayCall(request, credentials)) return;
    const refusal = request.url.startsWith('/api/v1/people/match')
      ? plainUnauthorized()
      : errorAnswer(now(), {
          status: 401,
          code: 'AUTH.AUTHENTICATION.CREDENTIALS_INVALID',
          ...(request.headers.authorization !== undefined && { oldCode: 'INVALID_ACCESS_TOKEN' }),
          message: 'Invalid access credentials.',
        });
    await reply.code(refusal.status).header('content-type', refusal.contentType).send(refusal.body);
  });
  const query = (request: FastifyRequest): Record<string, string> => request.query as Record<string, string>;
  server.post('/api/v1/people/match', (request, reply) =>
    service.match(query(request), arrivals.get(request)!).then((answer) => send(reply, answer, latency)),
  );
  server.post('/api/v1/people/bulk_match', (request, reply) => {
    const body = typeof request.body === 'string' ? request.body : '';
    return service
      .bulkMatch(query(request), body, arrivals.get(request)!)
      .then((answer) => send(reply, answer, latency));
  });
  server.get('/api/v1/webhook_result/:id', (request, reply) =>
    service
      .poll((request.params as { id: string }).id, arrivals.get(request)!)
      .then((answer) => send(reply, answer, latency)),
  );
  server.get('/api/v1/auth/health', () => ({ healthy: true, is_logged_in: true }));
  server.get('/api/v1/users/api_profile', () => actingUser);
}

/** For those who run the sandbox: what it has seen, what it has billed, what is to go wrong. */
function addControlRoutes(server: FastifyInstance, log: CallLog, faults: Faults): void {
  const number = z.coerce.number().positive();
  server.get('/sandbox/bill', () => log.bill());
  server.get('/sandbox/log', (request) =>
    log.calls(Number((request.query as { since?: string }).since ?? 0)),
  );
  server.get('/sandbox/late', () => log.lateResults());
  server.get('/sandbox/deliveries', () => log.deliveries());
  server.get('/sandbox/busiest', (request) => {
    const query = request.query as { seconds?: string; path?: string };
    const seconds = number.parse(query.seconds);
    return { seconds, calls: log.busiest(seconds, query.path ?? '/people/bulk_match') };
  });
  server.put('/sandbox/scenario', (request, reply) => {
    const parsed = scenarioSchema.safeParse(JSON.parse(String(request.body)));
    if (!parsed.success) return reply.code(422).send({ error: z.prettifyError(parsed.error) });
    faults.set(parsed.data);
    return reply.code(204).send();
  });
}

interface Credentials {
  readonly keys: ReadonlySet<string>;
  readonly tokens: ReadonlySet<string>;
}

/** Rule 1 of Authentication: a key that is sent as a bearer token is refused. */
function mayCall({ headers }: FastifyRequest, { keys, tokens }: Credentials): boolean {
  const key = headers['x-api-key'];
  if (typeof key === 'string') return keys.has(key);
  const bearer = /^Bearer (.+)$/.exec(headers.authorization ?? '')?.[1];
  return bearer !== undefined && tokens.has(bearer);
}

async function send(reply: FastifyReply, answer: Answer, latency: number): Promise<FastifyReply> {
  const wait = latency + answer.delayMilliseconds;
  if (wait > 0) await sleep(wait);
  if (answer.ending === 'whole') {
    return reply
      .code(answer.status)
      .headers(answer.headers)
      .header('content-type', answer.contentType)
      .send(answer.body);
  }
  reply.hijack();
  if (answer.ending === 'cut') {
    reply.raw.writeHead(answer.status, {
      ...answer.headers,
      'content-type': answer.contentType,
      'content-length': Buffer.byteLength(answer.body),
    });
    const half = answer.body.slice(0, Math.floor(answer.body.length / 2));
    reply.raw.write(half, () => reply.raw.destroy());
  } else {
    reply.raw.socket?.resetAndDestroy();
  }
  return reply;
}
