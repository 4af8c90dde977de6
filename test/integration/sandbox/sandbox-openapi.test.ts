import { afterAll, expect, it } from 'vitest';
import { startSandbox } from '../../../src/sandbox/server/server.ts';

interface Described {
  readonly operationId: string;
  readonly parameters: readonly { readonly name: string; readonly in: string; readonly schema: object }[];
  readonly requestBody?: { readonly content: Readonly<Record<string, { readonly schema: object }>> };
  readonly responses: Readonly<Record<string, { readonly description: string }>>;
}

interface Document {
  readonly openapi: string;
  readonly info: { readonly title: string; readonly version: string };
  readonly servers: readonly { readonly url: string }[];
  readonly paths: Readonly<Record<string, Readonly<Record<string, Described>>>>;
  readonly components: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
}

const sandbox = await startSandbox({ people: 10 });
const text = await (await fetch(new URL('/openapi.json', sandbox.baseUrl))).text();
const description = JSON.parse(text) as Document;
const operations = Object.entries(description.paths).flatMap(([path, item]) =>
  Object.entries(item).map(([method, operation]) => ({ method, path, ...operation })),
);

afterAll(() => sandbox.close());

it('the OpenAPI description has version 3.1 and the version of the interface', () => {
  expect(description).toMatchObject({
    openapi: expect.stringMatching(/^3\.1\.\d+$/),
    info: { title: expect.any(String), version: '1.0' },
    servers: [{ url: '/api/v1' }],
  });
});

it('the OpenAPI description has exactly the routes of the service', () => {
  const served = sandbox.routes
    .filter(({ path }) => path.startsWith('/api/v1/'))
    .map(({ method, path }) => `${method} ${path.slice('/api/v1'.length).replace(/:(\w+)/g, '{$1}')}`);
  expect(operations.map(({ method, path }) => `${method.toUpperCase()} ${path}`).sort()).toEqual(
    served.sort(),
  );
});

it('the OpenAPI description refers only to its own parts', () => {
  const references = [...text.matchAll(/"\$ref":"#\/([^"]+)"/g)].map(([, path]) => path!);
  expect(references.length).toBeGreaterThan(20);
  const missing = references.filter(
    (path) =>
      path
        .split('/')
        .reduce<unknown>((value, key) => (value as Record<string, unknown>)?.[key], description) ===
      undefined,
  );
  expect(missing).toEqual([]);
});

it('the OpenAPI description names each operation once, and describes each answer', () => {
  expect(new Set(operations.map(({ operationId }) => operationId)).size).toBe(operations.length);
  for (const { responses } of operations) {
    expect(Object.keys(responses)).toEqual(expect.arrayContaining(['200', '401', '403', '500']));
    for (const { description: meaning } of Object.values(responses))
      expect(meaning).toEqual(expect.any(String));
  }
});

it('the OpenAPI description declares every parameter of a path, and gives each parameter a schema', () => {
  for (const { path, parameters } of operations) {
    const inPath = parameters.filter((each) => each.in === 'path').map(({ name }) => name);
    expect(inPath).toEqual([...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name));
    for (const { schema } of parameters) expect(schema).toHaveProperty('type');
  }
});

it('the OpenAPI description states what is refused: fewer than 1 and more than 10 people, bad request ids', () => {
  const bulk = operations.find(({ path }) => path === '/people/bulk_match')!;
  expect(bulk.requestBody!.content['application/json']!.schema).toMatchObject({
    required: ['details'],
    properties: { details: { minItems: 1, maxItems: 10 } },
  });
  const poll = operations.find(({ path }) => path.startsWith('/webhook_result'))!;
  expect(poll.parameters[0]!.schema).toMatchObject({ pattern: '^-?[0-9]{1,19}$' });
  for (const { method, responses } of operations)
    if (method === 'post') expect(Object.keys(responses)).toContain('422');
});

it('the OpenAPI description describes a refusal of people/match for its credential as plain text', () => {
  const match = operations.find(({ path }) => path === '/people/match')!;
  expect(match.responses['401']).toMatchObject({ content: { 'text/plain': {} } });
});

it('the OpenAPI description has query parameters for people/match, and details for bulk_match', () => {
  const match = operations.find(({ path }) => path === '/people/match')!;
  expect(match.requestBody).toBeUndefined();
  expect(match.parameters).toHaveLength(14);
  const bulk = operations.find(({ path }) => path === '/people/bulk_match')!;
  expect(bulk.parameters).toHaveLength(5);
  expect(bulk.requestBody!.content['application/json']!.schema).toHaveProperty('properties.details.items');
});
