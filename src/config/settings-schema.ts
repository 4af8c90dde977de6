import { homedir } from 'node:os';
import { resolve } from 'node:path';
import { z } from 'zod';
import {
  budgetPeriodNames,
  settingOfBudgetPeriod,
  type PeriodSetting,
} from '../domain/money/budget-periods.ts';
import { parseCredits } from '../domain/money/decimal.ts';
import { Problem } from '../domain/problem.ts';
import { parseRateLimits } from '../domain/rates/rate-limit.ts';
import { parseFreshness } from '../domain/runs/freshness.ts';
import { defaultNotifiedEvents, notifiedEvents } from '../domain/runs/notified-event.ts';
import { parseRetention } from '../domain/runs/retention.ts';
import { parseDuration } from '../domain/text/duration.ts';
import { isLoopback } from '../domain/text/url-parts.ts';
/** Where a server listens. Port 0 chooses a free port. */
export interface ListenAddress {
  readonly host: string;
  readonly port: number;
}

/** A text setting. An empty value means not set, because compose files and CI pass empty strings. */
const text = z
  .string()
  .trim()
  .transform((value) => (value === '' ? undefined : value))
  .optional();

function oneOf<const Word extends string>(...words: readonly Word[]) {
  return z.enum(words, { error: `must be one of ${words.join(', ')}` });
}

const url = (...protocols: string[]) =>
  text.refine(
    (value) => value === undefined || (URL.canParse(value) && protocols.includes(new URL(value).protocol)),
    {
      error: `must be an address beginning with ${protocols.map((protocol) => `${protocol}//`).join(' or ')}`,
      abort: true,
    },
  );

/** The URL of a database with a single host: the database driver never tries a second host. */
const databaseAddress = text
  .refine((value) => value === undefined || !severalHosts.test(value), {
    error:
      'has several hosts: name one address that leads to the primary server, such as a DNS name or a proxy ' +
      '(docs/guides/production.md)',
    abort: true,
  })
  .pipe(url('postgres:', 'postgresql:'));

/** Matches several hosts: `postgres://user:secret@one,two:5432/database` or `?host=one,two`. */
const severalHosts = /^[a-z]+:\/\/(?:[^/?#]*@)?[^/?#@]*,[^/?#@]*(?:[/?#]|$)|[?&]host=[^&#]*(?:,|%2c)/i;

/** The service's URL in one spelling. It names the service of stored answers, so a second one would pay again. */
const serviceAddress = url('http:', 'https:')
  .refine((value) => value === undefined || !/[?#@]/.test(value), {
    error:
      'must have no user, query or fragment: the credential is ENRICHMENT_API_KEY or ENRICHMENT_ACCESS_TOKEN',
    abort: true,
  })
  .transform((value) => {
    const { origin, pathname } = new URL(value ?? 'http://none');
    return value && `${origin}${pathname.replace(/\/+$/, '')}`;
  })
  .refine((value) => value?.endsWith('/api/v1') ?? true, { error: 'must end in /api/v1' });

/** A setting. `read` converts its text, or refuses it with undefined. @param must completes the error "must be …" */
const known = <Value>(must: string, read: (text: string) => Value | undefined) =>
  text.transform((given, context): Value | undefined => {
    const found = given === undefined ? undefined : read(given);
    if (found !== undefined || given === undefined) return found;
    context.addIssue({ code: 'custom', message: `must be ${must}` });
    return z.NEVER;
  });

const count = (fallback: number, minimum: number, maximum: number) =>
  known(`a whole number from ${minimum} to ${maximum}`, (given) => {
    const number = Number(given);
    return Number.isInteger(number) && number >= minimum && number <= maximum ? number : undefined;
  }).transform((number) => number ?? fallback);

/** A setting that a parser of src/domain reads. Its error becomes an issue beside the other wrong settings. */
const parsed = <Value>(fallback: string, parse: (value: string) => Value) =>
  text.transform((given, context) => {
    try {
      return parse(given ?? fallback);
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
      const message = `is wrong: ${error.message}`;
      context.addIssue({ code: 'custom', message, params: { next: error.next } });
      return z.NEVER;
    }
  });

const duration = (setting: string, fallback: string) =>
  parsed(fallback, (given) => parseDuration(given, setting));

const credits = known('credits from 0 up, such as 500 or 12.5', parseCredits);

/** A setting such as `host:8080`, or only a port, which means 127.0.0.1. */
const listenAddress = (example: string) =>
  known(`host:port, such as ${example}`, (given): ListenAddress | undefined => {
    const [, host, port] = /^(?:(.*):)?(\d{1,5})$/.exec(given) ?? [];
    if (port === undefined || Number(port) > 65_535) return undefined;
    return { host: host?.replace(/^\[(.*)\]$/, '$1') || '127.0.0.1', port: Number(port) };
  });

/** Formats the URL of one of our servers, with brackets around an IPv6 host. */
export function httpUrlOf({ host, port }: ListenAddress): string {
  return `http://${host.includes(':') ? `[${host}]` : host}:${port}`;
}

/** Splits values at commas. Returns undefined if `read` returns undefined for one of them. */
function listOf<Value>(given: string, read: (part: string) => Value | undefined): Value[] | undefined {
  const values = given.split(',').map((part) => read(part.trim()));
  return values.every((each) => each !== undefined) ? values : undefined;
}

/** A setting with percents of a budget, such as `50%,80%`, sorted; `none` is an empty list. */
const percents = known('percents from 1% to 100%, such as 50%,80%, or none', (given) => {
  if (given === 'none') return [];
  const read = (part: string) =>
    /^(?:100|[1-9]\d?)\s*%$/.test(part) ? Number.parseInt(part, 10) : undefined;
  return listOf(given, read)?.toSorted((one, other) => one - other);
});

const events = known(`names of events, separated by commas: ${notifiedEvents.join(', ')}`, (given) =>
  listOf(given, (part) => notifiedEvents.find((name) => name === part)),
);

const periodSettings = Object.fromEntries(
  budgetPeriodNames.map((period) => [settingOfBudgetPeriod(period), credits]),
) as Record<PeriodSetting, typeof credits>;

/** Makes a reader for `known` that accepts texts of a form. */
const matching = (pattern: RegExp) => (given: string) => (pattern.test(given) ? given : undefined);

const fields = z.object({
  ENRICHMENT_BASE_URL: serviceAddress,
  ENRICHMENT_ALLOW_HTTP: text.pipe(oneOf('true', 'false').optional()),
  ENRICHMENT_API_KEY: text,
  ENRICHMENT_ACCESS_TOKEN: text,
  ENRICHMENT_ACCESS_TOKEN_FILE: text,
  ENRICHMENT_ACCESS_TOKEN_COMMAND: text,
  DATABASE_URL: databaseAddress,
  ANALYST_DATABASE_URL: databaseAddress,
  TEMPORAL_ADDRESS: known('HOST:PORT, such as 127.0.0.1:7233', matching(/^[^\s/]+:\d{1,5}$/)),
  TEMPORAL_UI_URL: url('http:', 'https:'),
  TEMPORAL_DEPLOYMENT_NAME: known('a name without dots and colons', matching(/^[^.:]*$/)),
  TEMPORAL_WORKER_BUILD_ID: text,
  TEMPORAL_CODEC_KEYS: text,
  TEMPORAL_CODEC_KEYS_FILE: text,
  CODEC_SERVER_LISTEN: listenAddress('127.0.0.1:8081'),
  CODEC_SERVER_UI_ORIGINS: text.transform((value) =>
    (value ?? 'http://127.0.0.1:8233,http://localhost:8233')
      .split(',')
      .map((origin) => origin.trim().replace(/\/$/, '')),
  ),
  CODEC_SERVER_TOKEN: text,
  WEBHOOK_PUBLIC_URL: url('http:', 'https:'),
  WEBHOOK_LISTEN: listenAddress('127.0.0.1:8080'),
  RATE_LIMITS: parsed('600/hour', parseRateLimits),
  MAX_CREDITS_PER_RUN: credits,
  ...periodSettings,
  BUDGET_ALARMS: percents.transform((given) => given ?? [80, 100]),
  FRESHNESS: parsed('enriched=90d,not_found=30d', parseFreshness),
  RETENTION: parsed('', parseRetention),
  LATE_RESULTS_POLL_AFTER: duration('LATE_RESULTS_POLL_AFTER', '15m'),
  LATE_RESULTS_DEADLINE: duration('LATE_RESULTS_DEADLINE', '24h'),
  POLL_PATH: known(
    'a path that begins with / and contains {request_id}',
    matching(/^\/.*\{request_id\}/),
  ).transform((given) => given ?? '/webhook_result/{request_id}'),
  ENRICH_DATA_DIR: text.transform((value) => resolve(value ?? '.enrich')),
  AWS_ENDPOINT_URL: url('http:', 'https:'),
  AWS_ENDPOINT_URL_S3: url('http:', 'https:'),
  CALL_CONCURRENCY: count(4, 1, 100),
  // A Node.js timer of more than 24 days fires at once. A call that times out fails, although it may be billed.
  CALL_TIMEOUT: duration('CALL_TIMEOUT', '60s').refine((seconds) => seconds >= 1 && seconds <= 3_600, {
    error: 'must be from 1s to 1h',
  }),
  TEMPORAL_CLI_PATH: text,
  TEMPORAL_PORT: count(0, 0, 65_535),
  TEMPORAL_UI_PORT: count(0, 0, 65_535),
  POSTGRES_PORT: count(0, 0, 65_535),
  SANDBOX_PORT: count(0, 0, 65_535),
  SANDBOX_CLOCK: known('a time, such as 2027-03-01T00:00:00Z', (given) =>
    Number.isNaN(Date.parse(given)) ? undefined : given,
  ),
  LOG_LEVEL: text.pipe(oneOf('trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent').optional()),
  LOG_FORMAT: text.pipe(oneOf('json', 'pretty').optional()),
  METRICS_LISTEN: listenAddress('127.0.0.1:9464'),
  OTEL_EXPORTER_OTLP_ENDPOINT: url('http:', 'https:'),
  OPENLINEAGE_URL: url('http:', 'https:'),
  OPENLINEAGE_API_KEY: text,
  OPENLINEAGE_NAMESPACE: text.transform((value) => value ?? 'enrich'),
  NOTIFY_URL: url('http:', 'https:'),
  NOTIFY_SECRET: text,
  NOTIFY_COMMAND: text,
  NOTIFY_ON: events.transform((given) => given ?? defaultNotifiedEvents),
  NOTIFY_NAMES: text.pipe(oneOf('true', 'false').optional()),
  XDG_CACHE_HOME: text.transform((value) => value ?? `${homedir()}/.cache`),
});

const credentialSettings = [
  'ENRICHMENT_API_KEY',
  'ENRICHMENT_ACCESS_TOKEN',
  'ENRICHMENT_ACCESS_TOKEN_FILE',
  'ENRICHMENT_ACCESS_TOKEN_COMMAND',
] as const;

const versionSettings = ['TEMPORAL_DEPLOYMENT_NAME', 'TEMPORAL_WORKER_BUILD_ID'] as const;

/** All settings, with rules between them. An error names a setting that is set, because the operator can unset it. */
export const settingsSchema = fields.superRefine((values, context) => {
  const wrong = (setting: Setting, message: string): void =>
    context.addIssue({ code: 'custom', path: [setting], message });
  if (values.TEMPORAL_CODEC_KEYS !== undefined && values.TEMPORAL_CODEC_KEYS_FILE !== undefined)
    wrong('TEMPORAL_CODEC_KEYS_FILE', 'is set together with TEMPORAL_CODEC_KEYS: unset one of the two');
  const [set, other] = versionSettings.filter((name) => values[name] !== undefined);
  if (set !== undefined && other === undefined) {
    const missing = versionSettings.find((name) => name !== set);
    wrong(set, `is set, and ${missing} is missing: set both for Worker Versioning, or unset ${set}`);
  }
  const { ENRICHMENT_BASE_URL: address, ENRICHMENT_ALLOW_HTTP: allowed } = values;
  if (address?.startsWith('http:') && allowed !== 'true' && !isLoopback(new URL(address).hostname))
    wrong(
      'ENRICHMENT_BASE_URL',
      'would send the credential and personal data unencrypted: ' +
        'write https, or set ENRICHMENT_ALLOW_HTTP=true in a trusted network',
    );
  const [first, ...others] = credentialSettings.filter((name) => values[name] !== undefined);
  for (const name of others)
    wrong(name, `is set together with ${first}: unset one of the two, because a call has one credential`);
});

export type Setting = keyof z.input<typeof fields>;

export const settingNames = fields.keyof().options;

export type SettingValues = z.output<typeof fields>;

/** Prefixes that only settings of this product have. ENRICH_KILL_AT is a variable for tests. */
const ownPrefix =
  /^(?:ENRICHMENT|ENRICH_(?!KILL_AT$)|RATE_LIMI?T|MAX_CREDIT|BUDGET_ALARM|FRESHNESS|LATE_RESULT)/;

/** Finds environment variables that have the prefix of a setting and are none: they are probably misspelt. */
export function unknownSettings(environment: NodeJS.ProcessEnv): string[] {
  const settings: ReadonlySet<string> = new Set(settingNames);
  return Object.entries(environment).flatMap(([name, value]) =>
    ownPrefix.test(name) && !settings.has(name) && value?.trim() !== '' ? [name] : [],
  );
}
