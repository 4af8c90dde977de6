import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { describeMisspelt, misspeltSettings } from '../../../src/config/misspelt-settings.ts';

it.each([
  ['RATE_LIMIT', 'RATE_LIMITS'],
  ['RATE_LIMTIS', 'RATE_LIMITS'],
  ['MAX_CREDIT_PER_DAY', 'MAX_CREDITS_PER_DAY'],
  ['ENRICHMENT_APIKEY', 'ENRICHMENT_API_KEY'],
  ['TEMPORAL_ADRESS', 'TEMPORAL_ADDRESS'],
])('misspeltSettings() names the setting for a variable that is nearly one: %s', (name, setting) => {
  expect(misspeltSettings({ [name]: '5/hour' }).map(describeMisspelt)).toEqual([
    `${name} is no setting: did you mean ${setting}?`,
  ]);
});

it.each(
  (
    'PATH PWD HOME USER NODE_ENV NODE_OPTIONS CI LANG TZ PORT WORKERS LOG_LEVEL ' +
    'PGHOST PGPORT PGUSER PGPASSWORD PGSSLMODE POSTGRES_HOST POSTGRES_USER POSTGRES_PASSWORD POSTGRES_DB ' +
    'DATABASE_HOST DATABASE_PORT DATABASE_USER DATABASE_NAME DATABASE_SSL DATABASE_DSN ' +
    'AWS_REGION AWS_PROFILE AWS_ACCESS_KEY_ID AWS_SECRET_ACCESS_KEY AWS_ENDPOINT_URL_SQS AWS_ENDPOINT_URL_SSO ' +
    'OTEL_EXPORTER_OTLP_TRACES_ENDPOINT OTEL_EXPORTER_OTLP_HEADERS OTEL_SERVICE_NAME ' +
    'TEMPORAL_NAMESPACE TEMPORAL_API_KEY TEMPORAL_TLS TEMPORAL_PROFILE TEMPORAL_CODEC_ENDPOINT TEMPORAL_HOST ' +
    'XDG_DATA_HOME XDG_CONFIG_HOME XDG_STATE_HOME ENRICH_KILL_AT OPENLINEAGE_DISABLED'
  ).split(' '),
)('misspeltSettings() ignores a variable of another program: %s', (name) => {
  expect(misspeltSettings({ [name]: 'value' })).toEqual([]);
});

it('misspeltSettings() ignores the settings of docker compose and variables without a value', () => {
  const names = readFileSync('.env.example', 'utf8').match(/^[A-Z_]+(?==)/gm) ?? [];
  expect(names).toContain('RECEIVER_PORT');
  const variables = Object.fromEntries(names.map((name) => [name, 'value']));
  expect(misspeltSettings({ ...variables, RATE_LIMIT: ' ' })).toEqual([]);
});
