import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { importerNames, importFields } from '../../../src/domain/crm/crm.ts';
import { outcomes } from '../../../src/domain/runs/outcome.ts';
import { crmExports } from '../../../src/domain/crm/crm.ts';
import { outputs } from '../../../src/outputs/outputs.ts';

const read = (page: string): string => readFileSync(new URL(`../../../${page}`, import.meta.url), 'utf8');

/** Names in backticks in the first column of a page's tables. */
function namesOf(page: string): string[] {
  const cells = read(page)
    .split('\n')
    .flatMap((line) => (line.startsWith('| ') ? [line.split(' | ')[0]!] : []));
  return cells.flatMap((cell) => [...cell.matchAll(/`([^`]+)`/g)].map(([, name]) => name!));
}

const sources = crmExports.map(({ source }) => source);

it.each([
  ['docs/reference/outcomes.md', 'src/domain/runs/outcome.ts', outcomes],
  ['docs/guides/exports.md', 'src/domain/crm/crm.ts', sources],
] as const)('a table of %s has every name of %s', (page, _, names) => {
  const named = namesOf(page);
  expect(names.filter((name) => !named.includes(name))).toEqual([]);
});

it('docs/guides/crm-import.md has every importer of src/domain/crm/crm.ts', () => {
  const page = read('docs/guides/crm-import.md');
  expect(importerNames.filter((name) => !page.includes(`| \`${name}\``))).toEqual([]);
});

it('docs/guides/crm-import.md names every field that a policy can have', () => {
  const page = read('docs/guides/crm-import.md');
  expect(importFields.filter((name) => !page.includes(`\`${name}\``))).toEqual([]);
});

it('docs/reference/json-output.md has every output of src/outputs/outputs.ts with its commands', () => {
  const lines = read('docs/reference/json-output.md').split('\n');
  const missing = Object.entries(outputs).flatMap(([name, { commands }]) => {
    const line = lines.find((each) => each.includes(`(../../schemas/outputs/${name}.json)`)) ?? '';
    return commands.filter((command) => !line.includes(`\`${command}`)).map((each) => `${name}: ${each}`);
  });
  expect(missing).toEqual([]);
});
