import type { AddressInfo } from 'node:net';
import fastify from 'fastify';
import { CallHandler } from './call-handler.ts';
import { CallLog } from '../account/call-log.ts';
import { addControlRoutes } from './control-routes.ts';
import { Credentials, type AccessToken, type ApiKey } from '../account/credentials.ts';
import { Directory } from '../population/directory.ts';
import { Faults } from '../faults/faults.ts';
import { LateResults } from '../late-results/late-results.ts';
import { LateStore, type StoredResult } from '../late-results/late-store.ts';
import { PeopleEnrichment } from './people-enrichment.ts';
import { Population } from '../population/population.ts';
import { RateWindows, parseWindowLimits } from '../account/rate-window.ts';
import { Renderer } from '../population/render.ts';
import { Reporting } from '../account/reporting.ts';
import type { FaultsToProduce } from '../faults/scenario.ts';
import { addServiceRoutes, refuseUnreadablePath } from './service-routes.ts';
import { sandboxTeam, type TeamUser } from '../account/team.ts';

export interface SandboxOptions {
  /** 0, the default: a free port. */
  readonly port?: number;
  readonly seed?: number;
  /** Number of numbered people; strangers are additional. */
  readonly people?: number;
  readonly matchRate?: number;
  readonly ambiguousRate?: number;
  /** Approximate bytes of JSON per person. */
  readonly personBytes?: number;
  /** Fixed windows per endpoint: `600/hour`, `20/10s,100/minute`, `unlimited`. */
  readonly rateLimits?: string;
  /** A string is a master key. */
  readonly apiKeys?: readonly (string | ApiKey)[];
  readonly accessTokens?: readonly (string | AccessToken)[];
  /** Lifetime of tokens from `POST /sandbox/token`; absent: unlimited. */
  readonly issuedTokens?: Pick<AccessToken, 'calls' | 'seconds'>;
  readonly team?: readonly TeamUser[];
  /** Milliseconds before every answer. */
  readonly latency?: number;
  /** Maximum milliseconds before phones and waterfall results are available. */
  readonly lateDelay?: number;
  readonly scenario?: FaultsToProduce | undefined;
  /** Keeps the log across restarts. */
  readonly stateDirectory?: string;
  /** Number of calls whose details stay in memory; sums cover all calls. */
  readonly loggedCalls?: number;
  /** Clock for tests of dates. */
  readonly now?: () => number;
}

export interface RunningSandbox {
  /** Ends in `/api/v1`. */
  readonly baseUrl: string;
  /** Address of log, bill and faults. */
  readonly controlUrl: string;
  readonly log: CallLog;
  readonly faults: Faults;
  /** Late results, delivered or not. */
  lateResults(): readonly StoredResult[];
  readonly routes: readonly { readonly method: string; readonly path: string }[];
  close(): Promise<void>;
}

/** The default key. It gives access only to invented people. */
export const defaultApiKey = 'sandbox-key';

/** Starts the sandbox on this machine; docs/sandbox.md describes it. */
export async function startSandbox(options: SandboxOptions = {}): Promise<RunningSandbox> {
  const { seed = 1, now = Date.now } = options;
  const log = new CallLog(options.stateDirectory, options.loggedCalls);
  const faults = new Faults({ seed, billedCredits: () => log.credits(), now }, options.scenario ?? {});
  const windows = new RateWindows(parseWindowLimits(options.rateLimits ?? '600/hour'));
  windows.replay(log.calls(), Date.now());
  const team = options.team ?? sandboxTeam;
  const credentials = new Credentials({
    apiKeys: options.apiKeys ?? [defaultApiKey],
    accessTokens: options.accessTokens ?? [],
    issuedTokens: options.issuedTokens ?? {},
    team,
    now,
  });
  const store = new LateStore(options.stateDirectory);
  const late = new LateResults({ seed, log, faults, now, delay: options.lateDelay ?? 3_000, store });
  const population = new Population({
    seed,
    people: options.people ?? 100_000,
    matchRate: options.matchRate ?? 0.82,
    ambiguousRate: options.ambiguousRate ?? 0.02,
  });
  const renderer = new Renderer(options.personBytes ?? 6_000);
  const enrichment = new PeopleEnrichment({
    seed,
    population,
    renderer,
    late,
    today: () => new Date(now()).toISOString().slice(0, 10),
  });
  const directory = new Directory(population, renderer);
  const reporting = new Reporting({ team, windows, log, faults, now });

  const server = fastify({
    bodyLimit: 1_048_576,
    exposeHeadRoutes: false,
    frameworkErrors: refuseUnreadablePath(now),
    routerOptions: { maxParamLength: 500 },
  });
  // Bodies stay text, so that the sandbox itself refuses malformed ones.
  server.removeAllContentTypeParsers();
  server.addContentTypeParser('*', { parseAs: 'string' }, (_request, body, done) => done(null, body));
  const routes: { method: string; path: string }[] = [];
  server.addHook('onRoute', ({ method, url }) => {
    routes.push(...[method].flat().map((each) => ({ method: each, path: url })));
  });
  addServiceRoutes(
    server,
    new CallHandler({ credentials, windows, log, faults, late, now }),
    {
      match: (call, _caller, fault) => enrichment.match(call, fault),
      bulkMatch: (call, _caller, fault) => enrichment.bulkMatch(call, fault),
      poll: (call) => late.poll(call.parameters),
      searchPeople: (call, _caller, fault) => directory.searchPeople(call, fault),
      enrichOrganization: (call, _caller, fault) => directory.enrichOrganization(call, fault),
      health: () => reporting.health(),
      profile: (_call, caller) => reporting.profile(caller),
      users: (call) => reporting.users(call),
      apiUsage: (call) => reporting.apiUsage(call),
      creditUsage: () => reporting.creditUsage(),
    },
    { latency: options.latency ?? 0, now },
  );
  addControlRoutes(server, { log, faults, credentials });
  await server.listen({ host: '127.0.0.1', port: options.port ?? 0 });
  const root = `http://127.0.0.1:${(server.server.address() as AddressInfo).port}`;
  return {
    baseUrl: `${root}/api/v1`,
    controlUrl: `${root}/sandbox`,
    log,
    faults,
    lateResults: () => store.results(),
    routes,
    close: async () => {
      late.close();
      server.server.closeAllConnections();
      await server.close();
    },
  };
}
