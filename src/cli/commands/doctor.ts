import { readActingUser, describeUser } from '../../calls/service-status.ts';
import { unknownSettings } from '../../config/settings-schema.ts';
import { WrongSettings, type Config } from '../../config/settings.ts';
import { compareMigrations } from '../../db/migrate.ts';
import { databaseUrlWithoutPassword, describeDatabaseFailure } from '../../db/postgres-errors.ts';
import { createClientWithTimeout } from '../../db/session-settings.ts';
import { postgresBinary } from '../../dev/postgres.ts';
import { configuredTemporal } from '../../dev/stack.ts';
import { findTemporalCli, temporalCliVersion } from '../../dev/temporal-cli.ts';
import { exitCodes, Problem } from '../../domain/problem.ts';
import { budgetPeriodNames, settingOfBudgetPeriod } from '../../domain/money/budget-periods.ts';
import { formatCredits } from '../../domain/money/decimal.ts';
import { formatRateLimits } from '../../domain/rates/rate-limit.ts';
import { formatFreshness } from '../../domain/runs/freshness.ts';
import { moveLoginToHeader, isLoopback } from '../../domain/text/url-parts.ts';
import { formatCount } from '../../domain/text/format.ts';
import { withoutPersonalData } from '../../domain/text/without-personal-data.ts';
import type { OutputOf } from '../../outputs/outputs.ts';
import {
  connectClient,
  describeTemporalFailure,
  describeWorkerPoll,
  readWorkerPoll,
  requireNamespace,
} from '../../temporal/connection.ts';
import { payloadCodec } from '../../temporal/payload-codec.ts';
import { withClient } from '../session/with-service.ts';
import { Command, type CommonFlags } from '../terminal/command.ts';
import { printFacts, formatTable } from '../terminal/output.ts';
import { readSettings } from '../session/session.ts';

export type Finding = OutputOf<'doctor'>['findings'][number];

/** Time that the database or the receiver has to answer a check. */
const answerMilliseconds = 10_000;

export function doctorCommand(): Command {
  return new Command('doctor')
    .description(
      'Check the set-up: components in use, what is missing and how to get it. Starts and spends nothing.',
    )
    .json()
    .examples(`
  enrich doctor
  enrich doctor --json | jq '.findings[] | select(.state != "ok")'`)
    .explain(`
Wrong settings are shown alone: correct them first.

Exit codes: 0 all good, 1 something is broken, 3 it works but something needs attention.`)
    .action(async (options: CommonFlags) => {
      const findings = [...examineNames(), ...(await examineSettings())];
      const states = findings.map((finding) => finding.state);
      const state = (['broken', 'attention'] as const).find((each) => states.includes(each)) ?? 'ok';
      printFacts<'doctor'>(options.json, { state, findings }, describe(findings));
      const { done, needsOperator, failed } = exitCodes;
      process.exitCode = { ok: done, attention: needsOperator, broken: failed }[state];
    });
}

const marks = { ok: 'ok', attention: 'warning', broken: 'BROKEN' } as const;

/** Formats the findings as a table, with their next steps below it. */
function describe(findings: readonly Finding[]): string {
  const next = findings.flatMap((each) => (each.next === undefined ? [] : [`  ${each.part}: ${each.next}`]));
  const rows = formatTable(findings.map(({ state, part, what }) => [marks[state], part, what]));
  return next.length === 0 ? rows : `${rows}\n\nnext\n${next.join('\n')}`;
}

/** A finding without the name of its part, which `checkComponents` adds. */
type State = Omit<Finding, 'part'>;

const ok = (what: string): State => ({ state: 'ok', what });
const attention = (what: string, next: string): State => ({ state: 'attention', what, next });
const broken = (what: string, next: string): State => ({ state: 'broken', what, next });

/** Finds environment variables that look like misspelt settings. */
function examineNames(): Finding[] {
  return unknownSettings(process.env).map((name) => ({
    part: 'settings',
    ...attention(`${name} is not a setting`, 'correct the name, or unset it; .env.example has all settings'),
  }));
}

/** Checks the components. If settings are wrong, only the wrong settings become findings. */
async function examineSettings(): Promise<Finding[]> {
  try {
    return await checkComponents(readSettings());
  } catch (error) {
    if (!(error instanceof WrongSettings)) throw error;
    return error.settings.map(({ setting, what, next = `correct ${setting}` }) => ({
      part: 'settings',
      ...broken(`${setting} ${what}`, `${next}; .env.example explains ${setting}`),
    }));
  }
}

type Check = (config: Config) => State | Promise<State>;

const checks: Readonly<Record<string, Check>> = {
  service: checkService,
  database: checkDatabase,
  receiver: checkReceiver,
  'rate limits': checkRateLimits,
  budgets: checkBudgets,
  freshness: ({ freshness }) => ok(`not asked for again: ${formatFreshness(freshness)}`),
  temporal: checkTemporal,
};

/** Checks every component without starting one or spending credits. No finding contains a secret. */
export async function checkComponents(config: Config): Promise<Finding[]> {
  return Promise.all(
    Object.entries(checks).map(async ([part, check]) => {
      const state = await withFailures(async () => check(config));
      return { part, ...state };
    }),
  );
}

/** Turns an error of a check into a finding. */
async function withFailures(check: () => Promise<State>): Promise<State> {
  return check().catch((error: unknown) => {
    if (!(error instanceof Problem))
      return broken(withoutPersonalData((error as Error).message), 'correct what the message names');
    // The doctor never spends credits, so its findings leave out that nothing was spent.
    return broken(error.sentence.replace('; nothing was spent', ''), error.next);
  });
}

/** Asks the service, at no cost, which user the credential belongs to. */
async function checkService({ service }: Config): Promise<State> {
  const { baseUrl, credential } = service;
  if (baseUrl === undefined) {
    const what = 'the sandbox on this machine (ENRICHMENT_BASE_URL is not set): invented people, no cost';
    return credential
      ? attention(what, 'set ENRICHMENT_BASE_URL: a credential is set, and is not used')
      : ok(what);
  }
  const where = databaseUrlWithoutPassword(baseUrl);
  const user = await withClient(service, readActingUser);
  if ('userId' in user) return ok(`${where} accepts the credential, ${describeUser(user)}`);
  const { unknown, credentialWorks } = user;
  if (!credentialWorks) return broken(`${where}: ${unknown.message}`, unknown.next);
  return ok(`${where} accepts the credential; ${describeUser(user)}`);
}

/** SQL that fails if the disk is full or the server is read-only. PostgreSQL drops the table at commit. */
const writeSomeMegabytes = `create temporary table written on commit drop as
  select repeat(md5(n::text), 60) as text from generate_series(1, 2000) n`;

/** Checks that the database can be written, and that its tables are of this release. */
async function checkDatabase({ databaseUrl, embedded }: Config): Promise<State> {
  if (databaseUrl === undefined) {
    postgresBinary('postgres');
    return ok(`embedded PostgreSQL in ${embedded.directories.postgres}`);
  }
  const where = databaseUrlWithoutPassword(databaseUrl);
  await query(databaseUrl, writeSomeMegabytes);
  const { pending, newer } = await compareMigrations(databaseUrl);
  const upToDate = newer.length > 0 ? `of a newer release: ${newer.join(', ')}` : 'up to date';
  const missing = `${formatCount(pending.length, 'migration')} missing: the next command adds them`;
  return ok(`${where}, ${pending.length > 0 ? missing : upToDate}`);
}

/** Runs a statement on a connection of its own, with a time limit. @throws Problem */
async function query(databaseUrl: string, statement: string): Promise<void> {
  const client = createClientWithTimeout(databaseUrl, answerMilliseconds);
  try {
    await client.connect();
    await client.query(statement);
  } catch (error) {
    throw describeDatabaseFailure(error, databaseUrl);
  } finally {
    // The close is not awaited, because it waits for a server that may not answer.
    void client.end();
  }
}

/** Checks that the server answers, that a worker is live, and that all workers have the same settings. */
async function checkTemporal(config: Config): Promise<State> {
  const { temporalAddress } = config;
  if (temporalAddress === undefined) return checkEmbeddedTemporal(config);
  const { address, namespace, poll } = await readPoll(config, temporalAddress);
  const what = `${address}, namespace ${namespace}; ${describeWorkerPoll(poll)}`;
  if (poll.isLost) return attention(what, 'start one: enrich worker');
  if (poll.settings.length <= 1) return ok(what);
  return attention(
    `${what}; live workers have different settings, such as RATE_LIMITS or TEMPORAL_CODEC_KEYS`,
    'give all of them the same settings, and restart workers after a change',
  );
}

/** Reads from a configured server when workers last polled, and the hashes of their settings. */
async function readPoll({ temporalCodec, temporalUiUrl }: Config, server: string) {
  const temporal = await configuredTemporal(server, temporalUiUrl);
  const client = await connectClient(temporal, payloadCodec(temporalCodec));
  try {
    await requireNamespace(client, temporal);
    return { ...temporal, poll: await readWorkerPoll(client, new Date()) };
  } catch (error) {
    throw describeTemporalFailure(error, temporal);
  } finally {
    await client.connection.close();
  }
}

/** Looks for the Temporal CLI, without downloading it. */
async function checkEmbeddedTemporal({ embedded }: Config): Promise<State> {
  const cli = await findTemporalCli(embedded);
  if (cli === undefined)
    return attention(
      `no Temporal CLI: the first command installs version ${temporalCliVersion}`,
      'run npm run setup now, or set TEMPORAL_ADDRESS',
    );
  return ok(`embedded dev server, ${cli.path} (${cli.origin}, ${cli.version})`);
}

/** Checks that the receiver answers at its public URL, as the service would reach it. */
async function checkReceiver({ webhook, service, temporalAddress }: Config): Promise<State> {
  const { publicUrl } = webhook;
  if (publicUrl === undefined) {
    const isServiceHere = service.baseUrl === undefined || isLoopback(new URL(service.baseUrl).hostname);
    // Commands with embedded Temporal run a receiver. Workers of a server need a separate `enrich receiver`.
    if (temporalAddress === undefined && isServiceHere)
      return ok('part of each command; the service on this machine delivers to it');
    return attention(
      'no public address: only polls fetch phones and waterfall results',
      'start enrich receiver, and set WEBHOOK_PUBLIC_URL to the https address under which the service reaches it',
    );
  }
  const { protocol, hostname } = new URL(publicUrl);
  const what = databaseUrlWithoutPassword(publicUrl);
  if (protocol !== 'https:' && !isLoopback(hostname))
    return attention(`${what}: personal data would travel unencrypted`, 'use an https address');
  const { url, headers } = moveLoginToHeader(`${publicUrl}/healthz`);
  const signal = AbortSignal.timeout(answerMilliseconds);
  const failure = await fetch(url, { headers, redirect: 'manual', signal }).then(
    ({ ok: isGood, status }) => (isGood ? undefined : `status ${status}`),
    ({ message, cause }: Error) => (cause instanceof Error ? cause.message : message),
  );
  if (failure === undefined) return ok(`${what}, reached through its public address`);
  return attention(
    `${what} does not answer (${failure})`,
    'start enrich receiver, and let the proxy forward /webhooks/ and /healthz',
  );
}

function checkRateLimits({ rateLimits }: Config): State {
  const what = formatRateLimits(rateLimits);
  return rateLimits.length > 0 ? ok(what) : attention(what, 'set RATE_LIMITS to what your plan allows');
}

function checkBudgets({ budgets: { perRun, perPeriod }, service }: Config): State {
  const limits = Object.entries({ run: perRun, ...perPeriod }).flatMap(([period, limit]) =>
    limit === undefined ? [] : [`${formatCount(formatCredits(limit), 'credit')} a ${period}`],
  );
  if (limits.length > 0 || service.baseUrl === undefined) return ok(limits.join(', ') || 'none');
  return attention(
    'none in the settings: only the approved plan, or a limit of enrich budget set, limits what a run spends',
    `set MAX_CREDITS_PER_RUN or ${budgetPeriodNames.map(settingOfBudgetPeriod).join(' or ')}`,
  );
}
