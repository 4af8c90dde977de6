import { z } from 'zod';
import { outputs, type OutputName } from '../../src/outputs/outputs.ts';

const schemas: Readonly<Record<OutputName, { schema: z.ZodType; commands: readonly string[] }>> = outputs;

/** The names of the outputs that `schemas/outputs` has a file for. */
export const outputNames = Object.keys(outputs) as readonly OutputName[];

/**
 * The JSON Schema of an output. Unlike the tests, the published schema allows fields that it does not know: a later
 * release may add them.
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
 * allowed. A command that was killed may have printed nothing.
 *
 * @throws Error which names the fields that do not fit
 */
export function checkOutput(
  parameters: readonly string[],
  { code, stdout }: { readonly code: number | null; readonly stdout: string },
): void {
  const lines = stdout.trim().split('\n');
  if (!parameters.includes('--json') || code === null || lines[0] === '') return;
  const [first = '', second = ''] = parameters;
  // Both print what somebody else wrote.
  if (first === 'match' || parameters.includes('--body')) return;
  const possible = outputNames.filter((name) =>
    schemas[name].commands.some((command) => command === first || command === `${first} ${second}`),
  );
  for (const line of first === 'changes' ? lines : lines.slice(-1)) {
    const value = JSON.parse(line) as object;
    const names = 'error' in value ? (['error'] as const) : possible;
    const results = names.map((name) => ({ name, ...schemas[name].schema.safeParse(value) }));
    if (results.some(({ success }) => success)) continue;
    const mistakes = results.map(({ name, error }) => `${name}: ${error ? z.prettifyError(error) : ''}`);
    throw new Error(`no schema of "enrich ${parameters.join(' ')}" fits its output:\n${mistakes.join('\n')}`);
  }
}
