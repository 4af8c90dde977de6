import { existsSync, lstatSync, readdirSync, statfsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { bulkUsage, askActingUser, describeLimits, describeUser } from '../../calls/service-status.ts';
import { partOf, unknownSettings } from '../../config/settings-schema.ts';
import type { Config, WrongSettings } from '../../config/settings.ts';
import { differingSettings, markSettings } from '../../config/shared-settings.ts';
import { openWarehouse } from '../../db/database.ts';
import { compareMigrations, migrations } from '../../db/migrate.ts';
import { addressWithoutPassword, describeDatabaseFailure } from '../../db/postgres-errors.ts';
import { clientWithTimeout, schemaName } from '../../db/session-settings.ts';
import { embeddedPostgresVersion, runningPostgres } from '../../dev/postgres.ts';
import { runningRecord } from '../../dev/server.ts';
import { configuredTemporal } from '../../dev/stack.ts';
import { findTemporalCli, temporalCliVersion } from '../../dev/temporal-cli.ts';
import { describeCode, exitCodes, Problem } from '../../domain/problem.ts';
import { periodNames, settingOfPeriod } from '../../domain/money/budget-periods.ts';
import { formatCredits } from '../../domain/money/decimal.ts';
import { formatRateLimits } from '../../domain/rates/rate-limit.ts';
import { loginInHeader, isLoopback } from '../../domain/text/url-parts.ts';
import { counted } from '../../domain/text/format.ts';
import { formatDuration } from '../../domain/text/duration.ts';
import { readPeriodBudgets, type PeriodBudget } from '../../ledger/credit-ledger.ts';
import type { OutputOf } from '../../outputs/outputs.ts';
import type { ServiceClient } from '../../service/client.ts';
import { ServiceFailure } from '../../service/failures/failure.ts';
import {
  afterPlainText,
  connectClient,
  describePlainText,
  describeWorkerPoll,
  readWorkerPoll,
  type WorkerPoll,
} from '../../temporal/connection.ts';
import { payloadCodec } from '../../temporal/payload-codec.ts';
import { settingsWithoutWrong } from '../session/settings-flags.ts';
import { withClient } from '../session/with-service.ts';
import { Command, jsonOption, type JsonFlag } from '../terminal/command.ts';
import { printFacts, table } from '../terminal/output.ts';

/** The state of one part of the set-up. */
export type Finding = OutputOf<'doctor'>['findings'][number];

const answerMilliseconds = 10_000;

/** `enrich doctor`: checks the set-up. */
export function doctorCommand(): Command {
  return new Command('doctor')
    .description(
      'Check the set-up: components in use, what is missing and how to get it. Starts and spends nothing.',
    )
    .option(...jsonOption)
    .explain(`
Examples:
  enrich doctor
  enrich doctor --json | jq '.findings[] | select(.state != "ok")'

Exit codes: 0 all good, 1 something is broken, 3 it works but something needs attention.`)
    .action(async (options: JsonFlag) => {
      const { config, wrong } = settingsWithoutWrong(options);
      const findings = await examine(config, wrong, unknownSettings(process.env));
      const states = findings.map((finding) => finding.state);
      const state = (['broken', 'attention'] as const).find((each) => states.includes(each)) ?? 'ok';
      printFacts<'doctor'>(options.json, { state, findings }, describe(findings));
      const { done, needsPerson, failed } = exitCodes;
      process.exitCode = { ok: done, attention: needsPerson, broken: failed }[state];
    });
}

const marks = { ok: 'ok', attention: 'warning', broken: 'BROKEN' } as const;

function describe(findings: readonly Finding[]): string {
  const next = findings.flatMap((each) => (each.next === undefined ? [] : [`  ${each.part}: ${each.next}`]));
  const rows = table(findings.map(({ state, part, what }) => [marks[state], part, what]));
  return next.length === 0 ? rows : `${rows}\n\nnext\n${next.join('\n')}`;
}

type Check = readonly [part: string, check: (config: Config) => Checked | Promise<Checked>];
type State = Omit<Finding, 'part'>;
type Checked = State | readonly Finding[];

const ok = (what: string): State => ({ state: 'ok', what });
const attention = (what: string, next: string): State => ({ state: 'attention', what, next });
const broken = (what: string, next: string): State => ({ state: 'broken', what, next });

const checks: readonly Check[] = [
  ['node', checkNode],
  ['service', checkService],
  [
    'database',
    (config) =>
      config.databaseUrl === undefined ? checkEmbeddedPostgres(config) : checkDatabase(config.databaseUrl),
  ],
  ['disk', checkDisk],
  ['temporal', checkTemporal],
  ['receiver', checkReceiver],
  ['rate limits', checkRateLimits],
  ['budgets', checkBudgets],
  ['freshness', checkFreshness],
];

/**
 * Checks every component without starting or spending anything. No finding contains a secret.
 *
 * @param config without the wrong settings
 * @param wrong the wrong settings: their parts are broken and not checked, because checked defaults would mislead
 * @param unknown variables that look like settings
 */
export async function examine(
  config: Config,
  wrong: WrongSettings['settings'] = [],
  unknown: readonly string[] = [],
): Promise<Finding[]> {
  const wrongParts = wrong.map(({ setting, what, next = `correct ${setting}` }): Finding => ({
    part: partOf(setting),
    state: 'broken',
    what: `${setting} ${what}`,
    next: `${next}; .env.example explains ${setting}`,
  }));
  const unknownParts = unknown.map((name): Finding => ({
    part: 'settings',
    state: 'attention',
    what: `${name} is no setting`,
    next: `correct the name, or unset ${name}; .env.example has all settings`,
  }));
  const unsound = new Set(wrongParts.map(({ part }) => part));
  // Both differ between the sandbox and a service.
  if (wrong.some(({ setting }) => setting === 'ENRICHMENT_BASE_URL')) unsound.add('receiver').add('budgets');
  const findings = checks
    .filter(([part]) => !unsound.has(part))
    .map(async ([part, check]): Promise<readonly Finding[]> => {
      const found = await Promise.resolve(config)
        .then(check)
        .catch((error: unknown) => {
          if (!(error instanceof Problem)) throw error;
          return broken(error.sentence, error.next);
        });
      return 'state' in found ? [{ part, ...found }] : found;
    });
  return [...wrongParts, ...unknownParts, ...(await Promise.all(findings)).flat()];
}

function checkNode(): Checked {
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
  const what = `Node ${process.versions.node}`;
  const isEnough = major > 20 || (major === 20 && minor >= 19);
  return isEnough ? ok(what) : broken(`${what} is too old`, 'install Node 20.19 or later');
}

/**
 * Checks which user the credential acts as, and what is left of the limits. Uses the client of runs, which reads access
 * tokens from a file or a command again when they expire. Spends no credits.
 */
async function checkService(config: Config): Promise<Checked> {
  const { baseUrl, credential } = config.service;
  if (baseUrl === undefined) {
    const what = 'the sandbox on this machine (ENRICHMENT_BASE_URL is not set): invented people, no cost';
    return credential
      ? attention(what, 'set ENRICHMENT_BASE_URL: a credential is set, and is not used')
      : ok(what);
  }
  const where = addressWithoutPassword(baseUrl);
  return withClient(config.service, async (client) => {
    const user = await askActingUser(client).catch(withoutSpending);
    if ('userId' in user)
      return ok(`${where} accepts the credential, ${describeUser(user)}; ${await whatIsLeft(client)}`);
    const { unknown, credentialWorks } = user;
    if (!credentialWorks) return broken(`${where}: ${unknown.message}`, unknown.next);
    return attention(
      `${where} accepts the credential; ${describeUser(user)}`,
      'nothing, if that is expected',
    );
  });
}

/** `enrich doctor` never spends credits, so its errors do not mention spending. */
function withoutSpending(error: unknown): never {
  if (!(error instanceof Problem)) throw error;
  const { type, message, where, next } = error;
  throw new Problem(type, message.replace('; nothing was spent', ''), { where, next, cause: error });
}

async function whatIsLeft(client: ServiceClient): Promise<string> {
  try {
    const usage = bulkUsage(await client.apiUsage(AbortSignal.timeout(answerMilliseconds)));
    const windows = (usage?.windows ?? []).flatMap(({ limit, left, seconds }) =>
      typeof limit === 'number' && typeof left === 'number' ? [{ calls: limit, free: left, seconds }] : [],
    );
    return describeLimits(windows, undefined);
  } catch (error) {
    if (error instanceof ServiceFailure) return describeLimits([], error);
    throw error;
  }
}

function checkEmbeddedPostgres({ embedded }: Config): Checked {
  const directory = embedded.directories.postgres;
  const running = runningRecord(directory);
  const data = existsSync(join(directory, 'data')) ? 'not running now' : 'made at the first run';
  return ok(
    `embedded ${embeddedPostgresVersion()} in ${directory}, ${running ? `running on port ${running.port}` : data}`,
  );
}

async function checkDatabase(databaseUrl: string): Promise<Checked> {
  const where = addressWithoutPassword(databaseUrl);
  const { version, mayCreate } = await readRights(databaseUrl);
  if (!mayCreate) {
    const next = `GRANT CREATE ON DATABASE … TO the user of DATABASE_URL, or give the schema ${schemaName} to it`;
    return broken(`${where}: the user may not create the schema ${schemaName}`, next);
  }
  const { pending, newer } = await compareMigrations(databaseUrl);
  const isEmpty = pending.length === Object.keys(migrations).length;
  const missing = `${counted(pending.length, 'migration')} of this release missing`;
  const upToDate = newer.length > 0 ? `of a newer release: ${newer.join(', ')}` : 'up to date';
  const tables = isEmpty ? 'no tables yet' : missing;
  const state = pending.length > 0 ? `${tables}: enrich migrate or the next command adds them` : upToDate;
  return ok(`${where}, PostgreSQL ${version}, ${state}`);
}

/** Fails if the disk is full or the server accepts only reads. The table ends with the statement. */
const writeSomeMegabytes = `create temporary table written on commit drop as
  select repeat(md5(n::text), 60) as text from generate_series(1, 2000) n`;

async function readRights(databaseUrl: string): Promise<{ version: number; mayCreate: boolean }> {
  try {
    const client = clientWithTimeout(databaseUrl, answerMilliseconds);
    await client.connect();
    try {
      const { rows } = await client.query<{ version: number; mayCreate: boolean }>(
        `select current_setting('server_version_num')::int / 10000 as version,
                coalesce((select has_schema_privilege(oid, 'create') from pg_namespace where nspname = $1),
                         has_database_privilege(current_database(), 'create')) as "mayCreate"`,
        [schemaName],
      );
      await client.query(writeSomeMegabytes);
      return rows[0]!;
    } finally {
      await client.end();
    }
  } catch (error) {
    const failure = describeDatabaseFailure(error, databaseUrl);
    if (failure.type !== 'database.unreachable') throw failure;
    // The general advice is for a connection that was lost during a command.
    throw new Problem(failure.type, failure.message, {
      where: addressWithoutPassword(databaseUrl),
      next: 'check DATABASE_URL and that PostgreSQL is running there, or unset it to use the embedded one',
      cause: error,
    });
  }
}

/** Size of the folder for embedded state, and the free space of its disk. */
function checkDisk({ embedded, databaseUrl, retention }: Config): Checked {
  const { dataDirectory } = embedded;
  const size = existsSync(dataDirectory)
    ? `${dataDirectory} has ${megabytes(sizeOf(dataDirectory))}`
    : `${dataDirectory} does not exist yet`;
  const free = freeBytes(dataDirectory);
  const facts = [
    `${size}, ${megabytes(free)} free`,
    databaseUrl !== undefined && 'the disk of DATABASE_URL is not checked',
    Object.keys(retention).length === 0 && 'RETENTION is not set: enrich prune removes nothing',
  ];
  return judgeFreeSpace(free, facts.filter(Boolean).join('; '));
}

/** PostgreSQL and Temporal cannot start, or stop in the middle of a run, below 50 MB. */
export function judgeFreeSpace(free: number, what: string): State {
  const next = 'free space on the disk, or set ENRICH_DATA_DIR to a folder on a larger disk';
  if (free < 50_000_000) return broken(`the disk is full: ${what}`, next);
  return free < 500_000_000 ? attention(what, next) : ok(what);
}

/** Free bytes of the disk of a folder, or of the nearest folder above that exists. */
function freeBytes(path: string): number {
  if (!existsSync(path) && dirname(path) !== path) return freeBytes(dirname(path));
  const { bavail, bsize } = statfsSync(path);
  return bavail * bsize;
}

/** Bytes of a file, or of all files below a folder. Files that vanish or cannot be read count as 0. */
function sizeOf(path: string): number {
  try {
    const entry = lstatSync(path);
    if (!entry.isDirectory()) return entry.size;
    return readdirSync(path).reduce((sum, name) => sum + sizeOf(join(path, name)), 0);
  } catch {
    return 0;
  }
}

function megabytes(bytes: number): string {
  return bytes < 1e9 ? `${(bytes / 1e6).toFixed(bytes < 1e6 ? 1 : 0)} MB` : `${(bytes / 1e9).toFixed(1)} GB`;
}

/** Checks the connection to Temporal, its workers, and whether they and this process encrypt. */
async function checkTemporal(config: Config): Promise<readonly Finding[]> {
  const codec = payloadCodec(config.temporalCodec);
  const finding = (part: string, found: Checked): readonly Finding[] =>
    'state' in found ? [{ part, ...found }] : found;
  if (config.temporalAddress === undefined)
    return [
      ...finding('temporal', await checkEmbeddedTemporal(config)),
      ...finding('encryption', checkEncryption(codec.keyName, { keyNames: [], isPlain: false })),
    ];
  const temporal = await configuredTemporal(config.temporalAddress, config.temporalUiUrl);
  const client = await connectClient(temporal, codec);
  try {
    await client.connection.workflowService.describeNamespace({ namespace: temporal.namespace });
    const poll = await readWorkerPoll(client, await readClockOf(config.databaseUrl));
    const what = `${temporal.address}, namespace ${temporal.namespace}; ${describeWorkerPoll(poll)}`;
    return [
      ...finding('temporal', poll.isLost ? attention(what, 'start one: enrich worker') : ok(what)),
      ...finding('encryption', checkEncryption(codec.keyName, poll)),
      ...finding('workers', checkWorkerSettings(config, poll.settings)),
    ];
  } catch {
    return finding(
      'temporal',
      broken(
        `${temporal.address} answers, but namespace ${temporal.namespace} cannot be used`,
        'create it, or correct TEMPORAL_NAMESPACE and the credentials for it',
      ),
    );
  } finally {
    await client.connection.close();
  }
}

/** Reads the clock of a database. Without an answer, of this machine: the check of the database names the error. */
async function readClockOf(databaseUrl: string | undefined): Promise<Date> {
  if (databaseUrl === undefined) return new Date();
  const client = clientWithTimeout(databaseUrl, answerMilliseconds);
  try {
    await client.connect();
    const { rows } = await client.query<{ now: Date }>('select clock_timestamp() as now');
    return rows[0]!.now;
  } catch {
    return new Date();
  } finally {
    // Its end waits for the server.
    void client.end();
  }
}

/** Whether this process encrypts what Temporal stores, with the key of the workers. */
function checkEncryption(
  keyName: string | undefined,
  { keyNames, isPlain }: Pick<WorkerPoll, 'keyNames' | 'isPlain'>,
): Checked {
  if (keyName === undefined && keyNames.length > 0)
    return attention(describePlainText(keyNames), afterPlainText);
  if (keyName !== undefined && isPlain)
    return attention(
      `a worker has no key, and cannot read what this command encrypts with key "${keyName}"`,
      'give every worker the keys of this command',
    );
  const others = keyNames.filter((name) => name !== keyName);
  const what =
    keyName === undefined
      ? 'Temporal stores plain text (ids, counts, file names)'
      : `encrypts with key "${keyName}"`;
  return ok(others.length === 0 ? what : `${what}; workers with ${others.join(', ')}`);
}

/** Compares the settings of live workers with each other, and with those of this command. */
function checkWorkerSettings(config: Config, ofWorkers: readonly string[]): Checked {
  const amongWorkers = differingSettings(ofWorkers);
  if (amongWorkers.length > 0)
    return attention(
      `workers differ in ${amongWorkers.join(', ')}`,
      'give all workers the same settings, and restart those that differ; a worker that has stopped still counts for ' +
        'a minute',
    );
  const fromCommand = differingSettings([...ofWorkers, markSettings(config)], false);
  if (fromCommand.length === 0) return [];
  return attention(
    `the workers have other values than this command: ${fromCommand.join(', ')}`,
    'restart the workers after a change; or give this command their settings',
  );
}

async function checkEmbeddedTemporal({ embedded }: Config): Promise<Checked> {
  const cli = await findTemporalCli(embedded);
  if (cli === undefined)
    return attention(
      `no Temporal CLI: the first command installs version ${temporalCliVersion}`,
      'run npm run setup now, or set TEMPORAL_ADDRESS',
    );
  const running = runningRecord(embedded.directories.temporal);
  const state = running ? `running, its UI is http://127.0.0.1:${running.uiPort}` : 'not running now';
  return ok(`embedded dev server, ${cli.path} (${cli.origin}, ${cli.version}), ${state}`);
}

/** Addresses that only a private network reaches. */
const privateHost = /^(?:localhost$|127\.|10\.|192\.168\.|172\.(?:1[6-9]|2\d|3[01])\.|\[)/;

/** Calls the receiver through its public address, as the service would. */
async function checkReceiver({ webhook, service, temporalAddress }: Config): Promise<Checked> {
  const { publicUrl, listen } = webhook;
  const port = listen === undefined ? '' : `, listening on ${listen.host}:${listen.port}`;
  const isServiceHere = service.baseUrl === undefined || isLoopback(new URL(service.baseUrl).hostname);
  if (publicUrl === undefined) {
    // Only a command with embedded Temporal has its own receiver. Workers of a server need a separate one.
    if (temporalAddress === undefined && isServiceHere)
      return ok(`part of each command${port}; the service on this machine delivers to it`);
    return attention(
      `no public address${port}: only polls fetch phones and waterfall results`,
      'start enrich receiver, and set WEBHOOK_PUBLIC_URL to the https address under which the service reaches it',
    );
  }
  const { protocol, hostname } = new URL(publicUrl);
  const what = `${addressWithoutPassword(publicUrl)}${port}`;
  const isHere = isLoopback(hostname);
  if (protocol !== 'https:' && !isHere)
    return attention(`${what}: personal data would travel unencrypted`, 'use an https address');
  const isReached = service.baseUrl === undefined || (isHere && isServiceHere);
  if (!isReached && privateHost.test(hostname))
    return attention(`${what}: only this network reaches the address`, 'use a public address');
  const failure = await whyNoAnswer(`${publicUrl}/healthz`);
  if (failure === undefined) return ok(`${what}, reached through its public address`);
  return attention(
    `${what} does not answer (${failure})`,
    'start enrich receiver (with embedded Temporal every command starts its own), and let the proxy forward ' +
      '/webhooks/ and /healthz',
  );
}

async function whyNoAnswer(address: string): Promise<string | undefined> {
  try {
    const { url, headers } = loginInHeader(address);
    const signal = AbortSignal.timeout(answerMilliseconds);
    const answer = await fetch(url, { headers, redirect: 'manual', signal });
    return answer.ok ? undefined : `status ${answer.status}`;
  } catch (error) {
    if (error instanceof Error && error.name === 'TimeoutError')
      return `no answer within ${answerMilliseconds / 1_000} s`;
    const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
    if (!(cause instanceof Error)) return 'failed';
    // Some causes have a code and an empty message. Others have only a message, such as "bad port".
    return 'code' in cause ? describeCode(String(cause.code)) : cause.message;
  }
}

function checkRateLimits({ rateLimits }: Config): Checked {
  const what = formatRateLimits(rateLimits);
  return rateLimits.length > 0 ? ok(what) : attention(what, 'set RATE_LIMITS to what your plan allows');
}

/** The limits that apply now: those of `enrich budget set` replace the settings. Starts no server. */
async function checkBudgets(config: Config): Promise<Checked> {
  const { perRun, perPeriod } = config.budgets;
  const ofSettings = Object.entries(perPeriod).map(([period, credits]) => ({
    period,
    limit: credits === undefined ? null : formatCredits(credits),
  }));
  const run = { period: 'run', limit: perRun === undefined ? null : formatCredits(perRun) };
  const limits = [run, ...((await storedLimits(config)) ?? ofSettings)].flatMap(({ period, limit }) =>
    limit === null ? [] : [`${counted(limit, 'credit')} a ${period}`],
  );
  if (limits.length > 0) return ok(limits.join(', '));
  if (config.service.baseUrl === undefined) return ok('none, and the sandbox costs nothing');
  return attention(
    'none: only the approved plan limits what a run spends',
    `set MAX_CREDITS_PER_RUN or ${periodNames.map(settingOfPeriod).join(' or ')}`,
  );
}

/** The budgets of the present day and month; undefined without a migrated database that answers. */
async function storedLimits(config: Config): Promise<readonly PeriodBudget[] | undefined> {
  const url = config.databaseUrl ?? runningPostgres(config.embedded.directories.postgres);
  if (url === undefined) return undefined;
  const warehouse = openWarehouse(url);
  try {
    return await readPeriodBudgets(warehouse.database, config.budgets.perPeriod);
  } catch {
    // The finding on the database says why.
    return undefined;
  } finally {
    await warehouse.close();
  }
}

function checkFreshness({ freshness }: Config): Checked {
  const { enrichedSeconds, notFoundSeconds, emailSeconds, phoneSeconds } = freshness;
  const durations = [
    ['found people', enrichedSeconds],
    ['others', notFoundSeconds],
    ['emails', emailSeconds],
    ['phones', phoneSeconds],
  ] as const;
  const what = durations.flatMap(([kind, seconds]) =>
    seconds === undefined ? [] : [`${kind} for ${formatDuration(seconds)}`],
  );
  return ok(`not asked for again: ${what.join(', ')}`);
}
