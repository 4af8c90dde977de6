import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { parse } from 'yaml';
import { describeFaults, scenarioSchema } from '../../../src/sandbox/faults.ts';

const page = readFileSync(new URL('../../../docs/reference/sandbox.md', import.meta.url), 'utf8');
const examples = [...page.matchAll(/```yaml\n([\s\S]*?)```/g)].map(([, text]) => text!);
const rows = page.split('\n').map((line) => line.replaceAll(/ +\|/g, ' |'));
const keys = (['conditions', 'calls', 'results', 'deliveries'] as const).flatMap(describeFaults);

it.each(examples.map((text) => [text]))('docs/reference/sandbox.md shows a valid scenario:\n%s', (text) => {
  expect(scenarioSchema.safeParse(parse(text)).error).toBeUndefined();
});

it('docs/reference/sandbox.md lists every key of a scenario as src/sandbox/faults.ts describes it', () => {
  expect(examples.length).toBeGreaterThan(2);
  const expected = keys.map(([name, values, meaning]) => `| \`${name}\` | ${values} | ${meaning} |`);
  expect(expected.filter((row) => !rows.includes(row))).toEqual([]);
});
