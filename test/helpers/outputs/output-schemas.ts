import { readFileSync } from 'node:fs';
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import formats from 'ajv-formats';
import { z } from 'zod';
import { outputs, type OutputName } from '../../../src/outputs/outputs.ts';

const schemas: Readonly<Record<OutputName, { schema: z.ZodType; commands: readonly string[] }>> = outputs;

/** The names of the outputs with a file in `schemas/outputs`. */
export const outputNames = Object.keys(outputs) as readonly OutputName[];

/**
 * The JSON Schema of an output. Unlike the tests, the published schema allows unknown fields, which a later release may
 * add.
 */
export function jsonSchemaOf(name: OutputName): Readonly<Record<string, unknown>> {
  const { $schema, description, ...schema } = z.toJSONSchema(schemas[name].schema, {
    io: 'input',
    override: ({ jsonSchema }) => {
      if (jsonSchema.additionalProperties === false) delete jsonSchema.additionalProperties;
      if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum;
      if (jsonSchema.minimum === Number.MIN_SAFE_INTEGER) delete jsonSchema.minimum;
      if (jsonSchema.format === 'date-time') delete jsonSchema.pattern;
    },
  });
  return { $schema, title: name, description, ...schema };
}

/**
 * Checks what a command has printed with `--json` against the schemas of its outputs, in which no unknown field is
 * allowed. Outputs without a schema only need to be JSON. A command that was killed may have printed nothing.
 *
 * @throws Error that names the fields that do not fit
 */
export function checkOutput(
  parameters: readonly string[],
  { code, stdout }: { readonly code: number | null; readonly stdout: string },
): void {
  const isReport = parameters[0] === 'report' && parameters.includes('json');
  const lines = isReport ? [stdout.trim()] : stdout.trim().split('\n');
  if (!(isReport || parameters.includes('--json')) || code === null || lines[0] === '') return;
  const [first = '', second = ''] = parameters;
  // With --body the command prints what the service wrote, which has no schema.
  if (parameters.includes('--body')) return;
  const possible = outputNames.filter((name) =>
    schemas[name].commands.some((command) => command === first || command === `${first} ${second}`),
  );
  for (const line of first === 'changes' ? lines : lines.slice(-1)) {
    const value = JSON.parse(line) as object;
    const names = 'error' in value ? (['error'] as const) : possible;
    if (names.length === 0) continue;
    const results = names.map((name) => ({ name, ...schemas[name].schema.safeParse(value) }));
    const fitting = results.find(({ success }) => success);
    if (fitting) {
      checkPublished(fitting.name, value);
      continue;
    }
    const mistakes = results.map(({ name, error }) => `${name}: ${error ? z.prettifyError(error) : ''}`);
    throw new Error(`no schema of "enrich ${parameters.join(' ')}" fits its output:\n${mistakes.join('\n')}`);
  }
}

const ajv = new Ajv2020({ allErrors: true });
formats.default(ajv);
const published = new Map<OutputName, ValidateFunction>();

/** Returns a validator of the published JSON Schema. Its library is not the one that generates the schema. */
export function publishedValidator(name: OutputName): ValidateFunction {
  const file = new URL(`../../../schemas/outputs/${name}.json`, import.meta.url);
  const validate = published.get(name) ?? ajv.compile(JSON.parse(readFileSync(file, 'utf8')) as object);
  published.set(name, validate);
  return validate;
}

function checkPublished(name: OutputName, value: unknown): void {
  const validate = publishedValidator(name);
  if (!validate(value)) throw new Error(`schemas/outputs/${name}.json: ${ajv.errorsText(validate.errors)}`);
}
