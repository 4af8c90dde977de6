import { z } from 'zod';
import { errorSchema } from './answer-schemas.ts';
import { operations, type Operation } from './operations.ts';
import { accountSchema, organizationSchema } from './organization-schema.ts';
import { contactSchema, matchSchema, personSchema, searchedPersonSchema } from './person-schema.ts';

type Json = Readonly<Record<string, unknown>>;

const meanings: Readonly<Record<number, string>> = {
  400: 'invalid number of people, or invalid request id',
  401: 'key or token missing or invalid',
  402: 'out of credits',
  403: 'outside the scopes of the credential',
  404: 'unknown, or not available yet',
  410: 'expired',
  422: 'a parameter is missing or invalid',
  429: 'too many calls; the headers show the windows',
  500: 'unexpected failure',
};

const rateHeaders = ['minute', 'hourly', '24-hour'].flatMap((window) => [
  `x-rate-limit-${window}`,
  `x-${window}-usage`,
  `x-${window}-requests-left`,
]);

/** The OpenAPI 3.1 description of the sandbox, generated from the schemas of its inputs and answers. */
export function openApi(): Json {
  return {
    openapi: '3.1.0',
    info: {
      title: 'Sandbox of the enrichment service',
      version: '1.0',
      description: 'Generated from the schemas of the sandbox. Its people are invented.',
    },
    servers: [{ url: '/api/v1' }],
    security: [{ apiKey: [] }, { accessToken: [] }],
    paths: Object.fromEntries(
      Object.entries(operations).map(([name, operation]) => [
        operation.path,
        { [operation.method.toLowerCase()]: describe(name, operation) },
      ]),
    ),
    components: {
      securitySchemes: {
        apiKey: { type: 'apiKey', in: 'header', name: 'x-api-key' },
        accessToken: { type: 'http', scheme: 'bearer', bearerFormat: 'JWT' },
      },
      schemas: componentSchemas(),
      headers: Object.fromEntries(rateHeaders.map((name) => [name, { schema: { type: 'string' } }])),
    },
  };
}

/** Schemas of answers and of the records in them, each described once by name. */
function componentSchemas(): Json {
  const registry = z.registry<{ id: string }>();
  const named = {
    Error: errorSchema,
    Person: personSchema,
    Match: matchSchema,
    SearchedPerson: searchedPersonSchema,
    Contact: contactSchema,
    Organization: organizationSchema,
    Account: accountSchema,
    ...Object.fromEntries(
      Object.entries(operations).map(([name, { answer }]) => [answerName(name), answer] as const),
    ),
  };
  for (const [id, schema] of Object.entries(named)) registry.add(schema, { id });
  const uri = (id: string) => `#/components/schemas/${id}`;
  const { schemas } = z.toJSONSchema(registry, { io: 'output', target: 'draft-2020-12', uri });
  return Object.fromEntries(
    Object.entries(schemas).map(([name, { $id: _id, $schema: _schema, ...schema }]) => [name, schema]),
  );
}

function describe(name: string, operation: Operation): Json {
  const isLimited = operation.usageName !== undefined;
  const statuses = [...(operation.refusals ?? []), 401, 403, 500, ...(isLimited ? [429] : [])].sort(
    (one, other) => one - other,
  );
  return {
    operationId: name,
    summary: operation.summary,
    parameters: [...parameters(operation.parameters, 'path'), ...parameters(operation.query, 'query')],
    ...(operation.body && {
      requestBody: {
        required: true,
        content: { 'application/json': { schema: jsonSchema(operation.body) } },
      },
    }),
    responses: {
      200: {
        description: 'done',
        ...(isLimited && { headers: rateHeaderReferences }),
        content: json(answerName(name)),
      },
      ...Object.fromEntries(
        statuses.map((status) => [
          status,
          {
            description: meanings[status],
            ...(status === 429 && {
              headers: { ...rateHeaderReferences, 'retry-after': { schema: { type: 'string' } } },
            }),
            content:
              status === 401 && name === 'match'
                ? { ...json('Error'), 'text/plain': { schema: { type: 'string' } } }
                : json('Error'),
          },
        ]),
      ),
    },
  };
}

const rateHeaderReferences = Object.fromEntries(
  rateHeaders.map((name) => [name, { $ref: `#/components/headers/${name}` }]),
);

function answerName(operation: string): string {
  return `${operation.charAt(0).toUpperCase()}${operation.slice(1)}Answer`;
}

function json(schema: string): Json {
  return { 'application/json': { schema: { $ref: `#/components/schemas/${schema}` } } };
}

function parameters(schema: z.ZodObject | undefined, place: 'path' | 'query'): Json[] {
  if (!schema) return [];
  const { properties = {}, required = [] } = jsonSchema(schema) as {
    properties?: Readonly<Record<string, Json>>;
    required?: readonly string[];
  };
  return Object.entries(properties).map(([name, { description, ...property }]) => ({
    name,
    in: place,
    required: required.includes(name),
    ...(description !== undefined && { description }),
    schema: property,
  }));
}

/** OpenAPI 3.1 implies the dialect of JSON Schema 2020-12. */
function jsonSchema(schema: z.ZodType): Json {
  const { $schema: _, ...rest } = z.toJSONSchema(schema, {
    io: 'input',
    target: 'draft-2020-12',
    reused: 'inline',
  });
  return rest;
}
