import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { unknownSettings } from '../../../src/config/settings-schema.ts';

it.each(['RATE_LIMIT', 'RATE_LIMTIS', 'MAX_CREDIT_PER_DAY', 'ENRICHMENT_APIKEY', 'LATE_RESULT_DEADLINE'])(
  'unknownSettings() finds a variable that looks like a setting but is not one: %s',
  (name) => {
    expect(unknownSettings({ [name]: '5/hour' })).toEqual([name]);
    expect(unknownSettings({ [name]: ' ' })).toEqual([]);
  },
);

it('unknownSettings() ignores settings, and variables of other programs and of docker compose', () => {
  const names: string[] = readFileSync('.env.example', 'utf8').match(/^[A-Z_]+(?==)/gm) ?? [];
  expect(names).toContain('RECEIVER_PORT');
  names.push(
    'PATH',
    'DATABASE_SSL',
    'TEMPORAL_NAMESPACE',
    'POSTGRES_USER',
    'ENRICH_KILL_AT',
    'WEBHOOK_SECRET',
  );
  expect(unknownSettings(Object.fromEntries(names.map((name) => [name, 'value'])))).toEqual([]);
});
