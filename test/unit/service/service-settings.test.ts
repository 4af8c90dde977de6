import { resolve } from 'node:path';
import { expect, it } from 'vitest';
import { readConfig } from '../../../src/config/settings.ts';
import cases from '../../data/service/service-settings.json' with { type: 'json' };

const settings = [
  ['ENRICHMENT_API_KEY', { kind: 'api-key', value: 'canary' }],
  ['ENRICHMENT_ACCESS_TOKEN', { kind: 'access-token', value: 'canary' }],
  ['ENRICHMENT_ACCESS_TOKEN_FILE', { kind: 'access-token', file: resolve('canary') }],
  ['ENRICHMENT_ACCESS_TOKEN_COMMAND', { kind: 'access-token', command: 'canary' }],
] as const;

it.each(settings)('the credential of the service can be set by %s', (name, expected) => {
  expect(readConfig({ [name]: ' canary ' }).service.credential).toEqual(expected);
});

const pairs = settings.flatMap(([one], index) =>
  settings.slice(index + 1).map(([other]) => [one, other] as const),
);
it.each(pairs)(
  'the credential of the service is refused if both %s and %s are set, and no value is quoted',
  (one, other) => {
    const read = () => readConfig({ [one]: 'canary', [other]: 'canary' });
    expect(read).toThrow(new RegExp(`${other} is set together with ${one}\\b`));
    expect(read).not.toThrow('canary');
  },
);

it.each(cases.spellings)(
  'the base URL of the service is normalised, because answers count for one service: %j',
  (address) =>
    expect(readConfig({ ENRICHMENT_BASE_URL: address }).service.baseUrl).toBe(
      'https://service.example/api/v1',
    ),
);

it.each(cases.credentials)(
  'the base URL of the service is refused with a credential, a query or a fragment: %s',
  (address) =>
    expect(() => readConfig({ ENRICHMENT_BASE_URL: address })).toThrow(
      /ENRICHMENT_BASE_URL must have no user.*ENRICHMENT_API_KEY/,
    ),
);

const overHttp = (host: string, allowed?: string) => () =>
  readConfig({ ENRICHMENT_BASE_URL: `http://${host}/api/v1`, ENRICHMENT_ALLOW_HTTP: allowed }).service
    .baseUrl;

it.each(['127.0.0.1:8650', '127.9.9.9', 'localhost:8650', '[::1]:8650'])(
  'the base URL of the service needs no TLS on this machine: %s',
  (host) => expect(overHttp(host)()).toBe(`http://${host}/api/v1`),
);

it.each(cases.withoutTls)(
  'the base URL of the service is refused without TLS on another machine: %s',
  (host) => expect(overHttp(host)).toThrow(/ENRICHMENT_BASE_URL .*https.*ENRICHMENT_ALLOW_HTTP=true/),
);

it('the base URL of the service needs no TLS on another machine if a setting allows it', () => {
  expect(overHttp('gateway.internal', 'true')()).toBe('http://gateway.internal/api/v1');
  expect(overHttp('gateway.internal', 'false')).toThrow('ENRICHMENT_ALLOW_HTTP');
});

it.each([
  'https://service.example',
  'https://service.example/api/v2',
  'ftp://service.example/api/v1',
  'service',
])('the base URL of the service is refused without the API version: %s', (address) => {
  expect(() => readConfig({ ENRICHMENT_BASE_URL: address })).toThrow(/ENRICHMENT_BASE_URL must/);
});
