import { join, resolve } from 'node:path';
import {
  budgetPeriodNames,
  settingOfBudgetPeriod,
  type PeriodLimits,
} from '../domain/money/budget-periods.ts';
import { formatCredits } from '../domain/money/decimal.ts';
import { UsageProblem } from '../domain/problem.ts';
import { sandboxServiceName, type RunDefaults } from '../domain/runs/run-options.ts';
import { settingsSchema, type Setting, type SettingValues } from './settings-schema.ts';

export { httpUrlOf, type ListenAddress } from './settings-schema.ts';

export interface ServiceSettings {
  readonly baseUrl: string | undefined;
  readonly credential: Credential | undefined;
  readonly callTimeoutSeconds: number;
  readonly pollPath: string;
}

/** How calls authenticate. A key and a token go into different headers: the service refuses a key as a bearer token. */
export type Credential =
  | { readonly kind: 'api-key'; readonly value: string }
  | { readonly kind: 'access-token'; readonly value: string }
  | AccessTokenOrigin;

/** Where the keys that encrypt Temporal's payloads are: in a setting, or in a file with an absolute path. */
export type CodecKeysOrigin = { readonly text: string } | { readonly file: string };

export type AccessTokenOrigin =
  | { readonly kind: 'access-token'; readonly file: string }
  | { readonly kind: 'access-token'; readonly command: string };

export type Config = DeepReadonly<ReturnType<typeof configOf>>;

type DeepReadonly<Value> = { readonly [Member in keyof Value]: DeepReadonly<Value[Member]> };

export type SettingOverrides = { readonly [Name in Setting]?: string };

interface WrongSetting {
  readonly setting: Setting;
  readonly what: string;
  readonly next?: string | undefined;
}

/** Names every wrong setting in one error. */
export class WrongSettings extends UsageProblem {
  readonly settings: readonly WrongSetting[];

  constructor(settings: readonly WrongSetting[]) {
    const steps = settings.map(({ setting, next }) => {
      if (next === undefined) return `correct ${setting}`;
      return settings.length === 1 ? next : `for ${setting}, ${next}`;
    });
    super('setting.invalid', settings.map(({ setting, what }) => `${setting} ${what}`).join('; '), {
      where: [...new Set(settings.map(({ setting }) => setting))].join(', '),
      next: [...steps, '.env.example explains all settings'].join('; '),
    });
    this.settings = settings;
  }
}

/** Reads all settings. One error names every wrong setting. @param overrides replace the environment's values */
export function readConfig(environment: NodeJS.ProcessEnv, overrides: SettingOverrides = {}): Config {
  const result = settingsSchema.safeParse({ ...environment, ...overrides });
  if (result.success) return configOf(result.data);
  throw new WrongSettings(
    result.error.issues.map((issue) => ({
      setting: issue.path[0] as Setting,
      what: issue.message,
      next: issue.code === 'custom' ? (issue.params as { next?: string } | undefined)?.next : undefined,
    })),
  );
}

/** Groups the values by the part that uses them. */
function configOf(values: SettingValues) {
  const { TEMPORAL_DEPLOYMENT_NAME: deploymentName, TEMPORAL_WORKER_BUILD_ID: buildId } = values;
  return {
    service: {
      baseUrl: values.ENRICHMENT_BASE_URL,
      credential: credentialOf(values),
      callTimeoutSeconds: values.CALL_TIMEOUT,
      pollPath: values.POLL_PATH,
    } satisfies ServiceSettings,
    databaseUrl: values.DATABASE_URL,
    analystDatabaseUrl: values.ANALYST_DATABASE_URL,
    temporalAddress: values.TEMPORAL_ADDRESS,
    temporalUiUrl: values.TEMPORAL_UI_URL?.replace(/\/$/, ''),
    workerVersion:
      deploymentName !== undefined && buildId !== undefined ? { deploymentName, buildId } : undefined,
    temporalCodec: codecKeysOf(values),
    codecServer: {
      listen: values.CODEC_SERVER_LISTEN,
      uiOrigins: values.CODEC_SERVER_UI_ORIGINS,
      token: values.CODEC_SERVER_TOKEN,
    },
    rateLimits: values.RATE_LIMITS,
    callConcurrency: values.CALL_CONCURRENCY,
    budgets: {
      perRun: values.MAX_CREDITS_PER_RUN,
      perPeriod: Object.fromEntries(
        budgetPeriodNames.map((period) => [period, values[settingOfBudgetPeriod(period)]]),
      ) as PeriodLimits,
    },
    budgetAlarms: values.BUDGET_ALARMS,
    freshness: values.FRESHNESS,
    retention: values.RETENTION,
    webhook: { publicUrl: values.WEBHOOK_PUBLIC_URL?.replace(/\/$/, ''), listen: values.WEBHOOK_LISTEN },
    lateResults: {
      pollAfterSeconds: values.LATE_RESULTS_POLL_AFTER,
      deadlineSeconds: values.LATE_RESULTS_DEADLINE,
    },
    exportAccess: {
      stagingDirectory: join(values.ENRICH_DATA_DIR, 'staging'),
      s3: { endpoint: values.AWS_ENDPOINT_URL_S3 ?? values.AWS_ENDPOINT_URL },
    },
    embedded: {
      dataDirectory: values.ENRICH_DATA_DIR,
      // Runs against the sandbox have their own servers, so that its people stay out of a real warehouse.
      directories: embeddedDirectories(
        values.ENRICHMENT_BASE_URL === undefined && values.TEMPORAL_ADDRESS === undefined
          ? join(values.ENRICH_DATA_DIR, 'sandbox')
          : values.ENRICH_DATA_DIR,
      ),
      cacheDirectory: resolve(values.XDG_CACHE_HOME, 'enrich'),
      temporalCliPath: values.TEMPORAL_CLI_PATH,
      /** Ports of the embedded servers; 0 chooses a free port. */
      ports: {
        temporal: values.TEMPORAL_PORT,
        temporalUi: values.TEMPORAL_UI_PORT,
        postgres: values.POSTGRES_PORT,
        sandbox: values.SANDBOX_PORT,
      },
      sandboxClock: values.SANDBOX_CLOCK,
    },
    tracesEndpoint: values.OTEL_EXPORTER_OTLP_ENDPOINT,
    lineage: {
      url: values.OPENLINEAGE_URL,
      apiKey: values.OPENLINEAGE_API_KEY,
      namespace: values.OPENLINEAGE_NAMESPACE,
    },
    notify: {
      url: values.NOTIFY_URL,
      secret: values.NOTIFY_SECRET,
      command: values.NOTIFY_COMMAND,
      on: values.NOTIFY_ON,
      withNames: values.NOTIFY_NAMES === 'true',
    },
    log: {
      // Log lines at `info` would interrupt the progress line of a command with embedded Temporal.
      level: values.LOG_LEVEL ?? (values.TEMPORAL_ADDRESS === undefined ? 'warn' : 'info'),
      format: values.LOG_FORMAT,
    },
    metricsListen: values.METRICS_LISTEN,
  };
}

function embeddedDirectories(dataDirectory: string) {
  return {
    postgres: join(dataDirectory, 'postgres'),
    temporal: join(dataDirectory, 'temporal'),
    sandbox: join(dataDirectory, 'service'),
    // A mark file for each process that uses the servers, runs a worker, or starts or stops the servers.
    users: join(dataDirectory, 'users'),
    workers: join(dataDirectory, 'workers'),
    changing: join(dataDirectory, 'changing'),
  };
}

/** Names the service in the warehouse: by its URL, or as the sandbox. */
export function serviceName({ service }: Config): string {
  return service.baseUrl ?? sandboxServiceName;
}

/** True if these settings decide which service runs call. Otherwise only the workers' settings do. */
export function namesService({
  service,
  temporalAddress,
}: Pick<Config, 'service' | 'temporalAddress'>): boolean {
  return service.baseUrl !== undefined || temporalAddress === undefined;
}

/** Returns the values of run options that no flag sets. */
export function runDefaults(config: Config): RunDefaults {
  const { budgets, freshness, lateResults } = config;
  return {
    service: serviceName(config),
    serviceOf: namesService(config) ? 'command' : 'workers',
    maxCredits: budgets.perRun === undefined ? null : formatCredits(budgets.perRun),
    freshness,
    lateDeadlineSeconds: lateResults.deadlineSeconds,
  };
}

function codecKeysOf(values: SettingValues): CodecKeysOrigin | undefined {
  const { TEMPORAL_CODEC_KEYS: text, TEMPORAL_CODEC_KEYS_FILE: file } = values;
  if (text !== undefined) return { text };
  return file === undefined ? undefined : { file: resolve(file) };
}

/** Returns the credential. The schema of settings refuses more than one of these. */
function credentialOf(values: SettingValues): Credential | undefined {
  const {
    ENRICHMENT_API_KEY: key,
    ENRICHMENT_ACCESS_TOKEN: token,
    ENRICHMENT_ACCESS_TOKEN_FILE: file,
    ENRICHMENT_ACCESS_TOKEN_COMMAND: command,
  } = values;
  if (key !== undefined) return { kind: 'api-key', value: key };
  if (token !== undefined) return { kind: 'access-token', value: token };
  if (file !== undefined) return { kind: 'access-token', file: resolve(file) };
  if (command !== undefined) return { kind: 'access-token', command };
  return undefined;
}
