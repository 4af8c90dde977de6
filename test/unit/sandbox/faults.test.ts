import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { parse } from 'yaml';
import { z } from 'zod';
import { faultTable, scenarioSchema } from '../../../src/sandbox/faults.ts';

const page = readFileSync(new URL('../../../docs/reference/sandbox.md', import.meta.url), 'utf8');
const examples = [...page.matchAll(/```yaml\n([\s\S]*?)```/g)].map(([, text]) => text!);
const rows = page.split('\n').map((line) => line.replaceAll(/ +\|/g, ' |'));
const keys = Object.values(faultTable).flatMap((part) => Object.entries<z.ZodType>(part));

it.each(examples.map((text) => [text]))('docs/reference/sandbox.md shows a valid scenario:\n%s', (text) => {
  expect(scenarioSchema.safeParse(parse(text)).error).toBeUndefined();
});

it('docs/reference/sandbox.md lists every key of a scenario as src/sandbox/faults.ts describes it', () => {
  expect(examples.length).toBeGreaterThan(2);
  const expected = keys.map(
    ([name, schema]) => `| \`${name}\` | ${valuesOf(schema)} | ${schema.description} |`,
  );
  expect(expected.filter((row) => !rows.includes(row))).toEqual([]);
});

function valuesOf(schema: z.ZodType): string {
  const { enum: words, const: only, minimum, maximum = 0 } = z.toJSONSchema(schema);
  const values = words ?? (only === undefined ? undefined : [only]);
  if (values !== undefined) return values.map((value) => `\`${String(value)}\``).join(', ');
  if (minimum === undefined) return 'text';
  return maximum > 86_400_000 ? `from ${minimum}` : `${minimum} to ${maximum}`;
}
