import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { parse } from 'yaml';
import { scenarioSchema } from '../../../src/sandbox/faults/scenario.ts';

const page = readFileSync(new URL('../../../docs/sandbox.md', import.meta.url), 'utf8');
const examples = [...page.matchAll(/```yaml\n([\s\S]*?)```/g)].map(([, text]) => text!);
const { rules, deliveries, ...rest } = scenarioSchema.shape;
const keys = [
  ...Object.keys(rules.unwrap().element.shape),
  ...Object.keys(deliveries.unwrap().element.shape),
  ...Object.keys(rest),
];

it.each(examples.map((text) => [text]))('docs/sandbox.md shows a valid scenario:\n%s', (text) => {
  expect(scenarioSchema.safeParse(parse(text)).error).toBeUndefined();
});

it('docs/sandbox.md shows several scenarios and explains every key', () => {
  expect(examples.length).toBeGreaterThan(2);
  expect(keys.filter((key) => !page.includes(`\`${key}\``))).toEqual([]);
});
