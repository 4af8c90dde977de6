import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { parse } from 'yaml';
import { readConfig } from '../../../src/config/settings.ts';
import { settingNames } from '../../../src/config/settings-schema.ts';
import { searchAttributes } from '../../../src/contract/temporal-names.ts';
import { parseDuration } from '../../../src/domain/text/duration.ts';

interface Service {
  readonly image?: string;
  readonly build?: string;
  readonly command?: readonly string[];
  readonly environment?: Readonly<Record<string, string>>;
  readonly pull_policy?: string;
  readonly volumes?: readonly (string | { readonly source: string; readonly read_only?: boolean })[];
  readonly ports?: readonly string[];
  readonly depends_on?: Readonly<Record<string, { readonly condition: string }>>;
  readonly healthcheck?: object;
  readonly restart: string;
  readonly stop_grace_period?: string;
}

interface Compose {
  readonly services: Readonly<Record<string, Service>>;
  readonly volumes: Readonly<Record<string, unknown>>;
}

const read = (name: string) => readFileSync(new URL(`../../../${name}`, import.meta.url), 'utf8');
const compose = parse(read('docker-compose.yml'), { merge: true }) as Compose;
const services = Object.entries(compose.services);
const exampleLines = read('.env.example').split('\n');
const example = new Map(
  exampleLines.flatMap((line) => {
    const match = /^([A-Z][A-Z0-9_]+)=(.*)$/.exec(line);
    return match ? [[match[1]!, match[2]!] as const] : [];
  }),
);
/** Variables of .env that are empty in the containers of the product. */
const blanked = ['WAREHOUSE_PASSWORD', 'TEMPORAL_DATABASE_PASSWORD', 'WORKERS'];
/** Credentials that only workers and commands use. The receiver accepts requests from the internet. */
const blankInReceiver = [
  'ENRICHMENT_API_KEY',
  'ENRICHMENT_ACCESS_TOKEN',
  'ENRICHMENT_ACCESS_TOKEN_COMMAND',
  'AWS_SECRET_ACCESS_KEY',
  'NOTIFY_URL',
  'NOTIFY_SECRET',
  'NOTIFY_COMMAND',
  'OPENLINEAGE_API_KEY',
  'OTEL_EXPORTER_OTLP_HEADERS',
  'CODEC_SERVER_TOKEN',
];
const composeOnly = [
  'WAREHOUSE_PASSWORD',
  'TEMPORAL_DATABASE_PASSWORD',
  'WORKERS',
  'EXPORTS_DIRECTORY',
  'RECEIVER_PORT',
  'PROMETHEUS_PORT',
  'GRAFANA_PORT',
  'TEMPORAL_RETENTION',
];

it('.env.example holds exactly the settings that the product reads', () => {
  const known = [...settingNames, ...composeOnly];
  expect({
    missing: known.filter((name) => !example.has(name)),
    unknown: [...example.keys()].filter((name) => !known.includes(name)),
  }).toEqual({ missing: [], unknown: [] });
});

it('.env.example explains every setting', () => {
  const bare = exampleLines.filter((line, index) => {
    if (!/^[A-Z][A-Z0-9_]+=/.test(line)) return false;
    const before = exampleLines.slice(0, index).reverse();
    return !before.find((earlier) => !/^[A-Z][A-Z0-9_]+=/.test(earlier))?.startsWith('#');
  });
  expect(bare).toEqual([]);
});

it('.env.example has the product’s defaults', () => {
  const { embedded: _, ...fromExample } = readConfig(Object.fromEntries(example));
  const { embedded: _embedded, ...fromNothing } = readConfig({});
  expect(fromExample).toEqual(fromNothing);
});

it('docker-compose.yml sets only known settings of worker, receiver and commands', () => {
  const known = new Set([...settingNames, ...blanked, ...blankInReceiver, 'TEMPORAL_NAMESPACE']);
  for (const name of ['worker', 'receiver', 'cli']) {
    const unknown = Object.keys(compose.services[name]!.environment!).filter(
      (setting) => !known.has(setting),
    );
    expect(unknown).toEqual([]);
  }
});

it('docker-compose.yml holds no password', () => {
  const secrets = services.flatMap(([, service]) =>
    Object.entries(service.environment ?? {}).filter(([name]) => /PASSWORD|PWD|KEY|TOKEN/.test(name)),
  );
  expect(secrets.length).toBeGreaterThan(0);
  for (const [, value] of secrets) expect(value).toMatch(/^(?:$|\$\{[A-Z][A-Z0-9_]+:\?)/);
});

it('docker-compose.yml gives the receiver no credential that only workers and commands need', () => {
  const { environment } = compose.services['receiver']!;
  expect(blankInReceiver.filter((setting) => environment![setting] !== '')).toEqual([]);
});

it('docker-compose.yml gives a worker more time to end than a call in flight can take', () => {
  const { callTimeoutSeconds } = readConfig({}).service;
  const grace = parseDuration(compose.services['worker']!.stop_grace_period!, 'stop_grace_period');
  // src/temporal/worker-options.ts aborts a call 60 seconds after the timeout of the call.
  expect(grace).toBeGreaterThan(callTimeoutSeconds + 60);
});

it('docker-compose.yml pins every image that it does not build', () => {
  const images = services.filter(([, { image }]) => image !== 'enrich:local').map(([, { image }]) => image);
  expect(images.filter((image) => !/:v?\d+\.\d+(\.\d+)?$/.test(image ?? ''))).toEqual([]);
});

it('docker-compose.yml opens ports to this machine only', () => {
  const ports = services.flatMap(([, service]) => service.ports ?? []);
  expect(ports.filter((port) => !port.startsWith('127.0.0.1:'))).toEqual([]);
});

it('docker-compose.yml registers the search attributes of the contract', () => {
  const pairs =
    compose.services['temporal-namespace']!.environment!['SEARCH_ATTRIBUTES']!.trim().split(/\s+/);
  expect(Object.fromEntries(pairs.map((pair) => pair.split('=')))).toEqual(searchAttributes);
});

it('the Dockerfile does not run as root, and runs the compiled command', () => {
  const dockerfile = read('Dockerfile');
  expect(dockerfile).toMatch(/^USER node$/m);
  expect(dockerfile).toMatch(/^ENTRYPOINT \[.*"\/app\/dist\/cli\/main\.js"\]$/m);
});
