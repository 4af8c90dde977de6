import { describeCode } from '../../domain/error-code.ts';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describeMisspelt, type MisspeltSetting } from '../../config/misspelt-settings.ts';
import type { Config, WrongSettings } from '../../config/settings.ts';
import type { Setting } from '../../config/settings-schema.ts';
import { formatDuration } from '../../domain/text/duration.ts';
import { Problem } from '../../domain/problem.ts';
import { formatRateLimits } from '../../domain/rates/rate-limit.ts';
import { embeddedPostgresVersion } from '../../dev/postgres.ts';
import { runningRecord } from '../../dev/server.ts';
import { clientWithTimeout, schemaName } from '../../db/session-settings.ts';
import { addressWithoutPassword, describeDatabaseFailure } from '../../db/postgres-errors.ts';
import { compareMigrations, migrations } from '../../db/migrate.ts';
import { checkBudgets } from './doctor-budgets.ts';
import { checkDisk } from './doctor-disk.ts';
import { checkService } from './doctor-service.ts';
import { checkTemporal } from './doctor-temporal.ts';
import { attention, broken, ok, type Finding } from './finding.ts';
import { loginInHeader } from '../../domain/text/basic-login.ts';
import { isLoopback } from '../../domain/text/loopback.ts';

const answerMilliseconds = 10_000;

/**
 * Checks every component without starting or spending anything. Nothing in the findings is a secret.
 *
 * @param config without the wrong settings
 * @param wrong the wrong settings. Their parts are reported as broken and not checked, because a check of the defaults
 *   would mislead.
 */
export async function examine(
  config: Config,
  wrong: WrongSettings['settings'] = [],
  misspelt: readonly MisspeltSetting[] = [],
): Promise<Finding[]> {
  const checks: readonly [part: string, check: () => Finding[] | Promise<Finding[]>][] = [
    ['node', checkNode],
    ['service', () => checkService(config)],
    [
      'database',
      () =>
        config.databaseUrl === undefined ? checkEmbeddedPostgres(config) : checkDatabase(config.databaseUrl),
    ],
    ['disk', () => checkDisk(config)],
    ['temporal', () => checkTemporal(config)],
    ['receiver', () => checkReceiver(config)],
    ['rate limits', () => checkRateLimits(config)],
    ['budgets', () => checkBudgets(config)],
    ['freshness', () => checkFreshness(config)],
  ];
  const wrongParts = wrong.map(({ setting, what, next = `correct ${setting}` }) =>
    broken(partOf(setting), `${setting} ${what}`, `${next}; .env.example explains ${setting}`),
  );
  const unsound = new Set([
    ...wrongParts.map(({ part }) => part),
    ...(wrong.some(({ setting }) => setting === 'ENRICHMENT_BASE_URL') ? dependOnBaseUrl : []),
  ]);
  const sound = checks.filter(([part]) => !unsound.has(part));
  const findings = await Promise.all(
    sound.map(async ([part, check]) => {
      try {
        return await check();
      } catch (error) {
        if (!(error instanceof Problem)) throw error;
        const where = error.where === undefined ? '' : ` (${error.where})`;
        return [broken(part, `${error.message}${where}`, error.next)];
      }
    }),
  );
  const misspeltParts = misspelt.map((each) =>
    attention(
      'settings',
      describeMisspelt(each),
      `rename ${each.name} to ${each.setting}, or unset ${each.name}`,
    ),
  );
  return [...wrongParts, ...misspeltParts, ...findings.flat()];
}

/** Parts whose checks differ between the sandbox and a service. */
const dependOnBaseUrl = ['receiver', 'budgets'];

const partsOfSettings: readonly (readonly [prefix: string, part: string])[] = [
  ['ENRICHMENT_', 'service'],
  ['DATABASE_', 'database'],
  ['TEMPORAL_', 'temporal'],
  ['WEBHOOK_', 'receiver'],
  ['RATE_LIMITS', 'rate limits'],
  ['MAX_CREDITS_', 'budgets'],
  ['FRESHNESS', 'freshness'],
  ['NOTIFY_', 'notifications'],
];

function partOf(setting: Setting): string {
  return partsOfSettings.find(([prefix]) => setting.startsWith(prefix))?.[1] ?? 'settings';
}

function checkNode(): Finding[] {
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
  const what = `Node ${process.versions.node}`;
  const enough = major > 20 || (major === 20 && minor >= 19);
  return [enough ? ok('node', what) : broken('node', `${what} is too old`, 'install Node 20.19 or later')];
}

function checkEmbeddedPostgres(config: Config): Finding[] {
  const directory = config.embedded.directories.postgres;
  const running = runningRecord(directory);
  const data = existsSync(join(directory, 'data')) ? 'not running now' : 'made at the first run';
  const state = running ? `running on port ${running.port}` : data;
  return [ok('database', `embedded ${embeddedPostgresVersion()} in ${directory}, ${state}`)];
}

async function checkDatabase(databaseUrl: string): Promise<Finding[]> {
  const where = addressWithoutPassword(databaseUrl);
  const { version, mayCreate } = await readRights(databaseUrl);
  if (!mayCreate) {
    const next = `GRANT CREATE ON DATABASE … TO the user of DATABASE_URL, or give the schema ${schemaName} to it`;
    return [broken('database', `${where}: the user may not create the schema ${schemaName}`, next)];
  }
  const { pending, newer } = await compareMigrations(databaseUrl);
  return [ok('database', `${where}, PostgreSQL ${version}, ${describeTables(pending, newer)}`)];
}

function describeTables({ length: missing }: readonly string[], newer: readonly string[]): string {
  if (missing === Object.keys(migrations).length)
    return 'no tables yet: enrich migrate or the next command creates them';
  if (missing > 0)
    return `${missing} migrations of this release are missing: enrich migrate or the next command applies them`;
  return newer.length > 0 ? `of a newer release: ${newer.join(', ')}` : 'up to date';
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
      return rows[0] ?? { version: 0, mayCreate: false };
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

/** Calls the receiver through its public address, as the service would. */
async function checkReceiver(config: Config): Promise<Finding[]> {
  const { publicUrl, listen } = config.webhook;
  const port = listen === undefined ? '' : `, listening on ${listen.host}:${listen.port}`;
  if (publicUrl === undefined) {
    const { baseUrl } = config.service;
    const isServiceHere = baseUrl === undefined || isLoopback(new URL(baseUrl).hostname);
    // Only a command with embedded Temporal has its own receiver. Workers of a server need a separate one.
    if (config.temporalAddress === undefined && isServiceHere) {
      const caller = baseUrl === undefined ? 'sandbox' : 'service on this machine';
      return [ok('receiver', `part of each command${port}; the ${caller} delivers to it`)];
    }
    const what = `no public address${port}: only polls fetch phones and waterfall results`;
    const next =
      'start enrich receiver, and set WEBHOOK_PUBLIC_URL to the https address under which the service reaches it';
    return [attention('receiver', what, next)];
  }
  const { protocol, hostname } = new URL(publicUrl);
  const what = `${addressWithoutPassword(publicUrl)}${port}`;
  const isHere = isLoopback(hostname);
  const { baseUrl } = config.service;
  const isReachedFromHere = baseUrl === undefined || (isHere && isLoopback(new URL(baseUrl).hostname));
  if (protocol !== 'https:' && !isHere) {
    return [attention('receiver', `${what}: personal data would travel unencrypted`, 'use an https address')];
  }
  if (
    !isReachedFromHere &&
    /^(?:localhost$|127\.|10\.|192\.168\.|172\.(?:1[6-9]|2\d|3[01])\.|\[)/.test(hostname)
  ) {
    return [attention('receiver', `${what}: only this network reaches the address`, 'use a public address')];
  }
  const answer = await ask(`${publicUrl}/healthz`);
  if (typeof answer !== 'string' && answer.ok)
    return [ok('receiver', `${what}, reached through its public address`)];
  const said = typeof answer === 'string' ? answer : `status ${answer.status}`;
  const next =
    'start enrich receiver (with embedded Temporal every command starts its own), and let the proxy forward ' +
    '/webhooks/ and /healthz';
  return [attention('receiver', `${what} does not answer (${said})`, next)];
}

/** @returns the answer, or the reason why there is none */
async function ask(address: string): Promise<Response | string> {
  try {
    const { url, headers } = loginInHeader(address);
    return await fetch(url, { headers, redirect: 'manual', signal: AbortSignal.timeout(answerMilliseconds) });
  } catch (error) {
    if (error instanceof Error && error.name === 'TimeoutError')
      return `no answer within ${answerMilliseconds / 1_000} s`;
    const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
    if (!(cause instanceof Error)) return 'failed';
    // Some causes have a code and an empty message. Others have only a message, such as "bad port".
    return 'code' in cause ? describeCode(String(cause.code)) : cause.message;
  }
}

function checkRateLimits(config: Config): Finding[] {
  const what = formatRateLimits(config.rateLimits);
  if (config.rateLimits.length > 0) return [ok('rate limits', what)];
  return [attention('rate limits', what, 'set RATE_LIMITS to what your plan allows')];
}

function checkFreshness(config: Config): Finding[] {
  const { enrichedSeconds, notFoundSeconds, emailSeconds, phoneSeconds } = config.freshness;
  const what = [
    `found people are not asked for again for ${formatDuration(enrichedSeconds)}, others for ` +
      formatDuration(notFoundSeconds),
    ...(emailSeconds === undefined ? [] : [`addresses for ${formatDuration(emailSeconds)}`]),
    ...(phoneSeconds === undefined ? [] : [`phones for ${formatDuration(phoneSeconds)}`]),
  ];
  return [ok('freshness', what.join(', '))];
}
