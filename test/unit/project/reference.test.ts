import { readFileSync, readdirSync } from 'node:fs';
import { expect, it } from 'vitest';
import { commandsPage, commandsPages, leavesOf } from '../../../scripts/reference/commands.ts';
import { composedErrors } from '../../../scripts/reference/composed-errors.ts';
import { errorsPage, errorsPages, readErrors } from '../../../scripts/reference/errors.ts';
import { metricsPage } from '../../../scripts/reference/metrics.ts';
import { pagePath, pageWith } from '../../../scripts/reference/page.ts';
import { settingsPage } from '../../../scripts/reference/settings.ts';
import { commandLoaders } from '../../../src/cli/program.ts';

const roots = await Promise.all([...commandLoaders.values()].map((load) => load()));
const { rows, bare } = readErrors();

it.each<readonly [string, string]>([
  ['settings', settingsPage()],
  ['metrics', metricsPage()],
  ...commandsPages.map((page) => [page, commandsPage(roots, page)] as const),
  ...(['errors', ...errorsPages] as const).map((page) => [page, errorsPage(rows, page)] as const),
])('docs/reference/%s.md equals the page that is generated from the code', async (name, generated) => {
  await expect(pageWith(name, generated)).toMatchFileSnapshot(
    pagePath(name),
    'npm run reference writes the file',
  );
});

it('every error type has a text, in the code or in scripts/reference/composed-errors.ts', () => {
  expect(bare).toEqual([]);
  const types = rows.map(({ type }) => type);
  expect(Object.keys(composedErrors).filter((type) => !types.includes(type))).toEqual([]);
});

it('no page of the docs has more than 1,800 words', () => {
  const long = ['tutorial', 'guides', 'reference', 'explanation'].flatMap((folder) => {
    const path = new URL(`../../../docs/${folder}/`, import.meta.url);
    return readdirSync(path).filter(
      (name) => readFileSync(new URL(name, path), 'utf8').trim().split(/\s+/).length > 1_800,
    );
  });
  expect(long).toEqual([]);
});

const leaves = roots.flatMap((root) => leavesOf(root));
const guides = new URL('../../../docs/guides/', import.meta.url);

it.each(readdirSync(guides))('docs/guides/%s names only commands and flags that exist', (name) => {
  const page = readFileSync(new URL(name, guides), 'utf8').replaceAll(/\\?\n +/g, ' ');
  const called = /(?:(?:^(?:\$ |npx |[A-Z_]+=\S+ )*|`(?:npx )?)enrich|\bcli) ([a-z][^\n`|;#]*)/gm;
  const wrong = [...page.matchAll(called)].filter(([, text]) => {
    const leaf = leaves.find((each) => `${text} `.startsWith(`${each.name} `));
    if (leaf === undefined) return roots.every((root) => root.name() !== text);
    const flags = [...text!.replaceAll(/"[^"]*"/g, '').matchAll(/(?<=\s)--[a-z-]+/g)];
    return flags.some(([flag]) => leaf.command.options.every(({ long }) => long !== flag));
  });
  expect(wrong.map(([text]) => text)).toEqual([]);
});
