import { readFileSync, readdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { parse } from 'yaml';
import { commandLoaders } from '../../../src/cli/program.ts';
import { readConfig } from '../../../src/config/settings.ts';
import { settingNames } from '../../../src/config/settings-schema.ts';

const root = fileURLToPath(new URL('../../../', import.meta.url));
const read = (path: string) => readFileSync(`${root}${path}`, 'utf8');
const chart = 'deploy/helm/enrich/';
const files = (folder: string) => readdirSync(`${root}${folder}`).map((name) => `${folder}/${name}`);
const templates = files(`${chart}templates`).map(read).join('\n');
const values = parse(read(`${chart}values.yaml`)) as {
  readonly worker: { readonly terminationGracePeriodSeconds: number };
};

it('the Helm chart names only settings that exist', () => {
  const everything = [
    templates,
    ...['values.yaml', 'values.schema.json', 'README.md'].map((name) => read(chart + name)),
  ];
  const names = [...everything, ...files('test/helm').map(read)]
    .join('\n')
    .match(/\b[A-Z]+(?:_[A-Z0-9]+)+\b/g)!;
  /** Variables that the clients of Temporal, S3 and OTLP read themselves. */
  const clients = ['TEMPORAL_NAMESPACE', 'TEMPORAL_API_KEY', 'AWS_SECRET_ACCESS_KEY', 'AWS_SESSION_TOKEN'];
  const known = new Set<string>([...settingNames, ...clients, 'OTEL_EXPORTER_OTLP_HEADERS']);
  expect([...new Set(names)].filter((name) => !known.has(name))).toEqual([]);
});

it('the Helm chart starts only commands that exist', () => {
  const commands = [...templates.matchAll(/"args" \((?:concat \()?list "([^"]+)"/g)].map(
    (match) => match[1]!,
  );
  expect(commands.sort()).toEqual(['codec-server', 'migrate', 'receiver', 'schedule', 'worker']);
  expect(commands.filter((command) => !commandLoaders.has(command))).toEqual([]);
});

it('the Helm chart gives a worker more time to end than a call in flight can take', () => {
  const { callTimeoutSeconds } = readConfig({}).service;
  expect(values.worker.terminationGracePeriodSeconds).toBeGreaterThan(callTimeoutSeconds + 60);
});
