import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { githubSlug } from '../../helpers/project/github-slug.ts';

const root = fileURLToPath(new URL('../../../', import.meta.url));

const pages = [
  'README.md',
  'CONTRIBUTING.md',
  'CHANGELOG.md',
  'test/README.md',
  'deploy/helm/enrich/README.md',
  ...readdirSync(join(root, 'docs'), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.md'))
    .map((name) => `docs/${name}`),
];

/** Removes code blocks, because a comment in a code block looks like a heading. */
const withoutCode = (path: string): string =>
  readFileSync(join(root, path), 'utf8').replaceAll(/^ *```[^]*?^ *```/gm, '');

const linksOf = (page: string): { link: string; path: string; anchor: string | undefined }[] =>
  [...withoutCode(page).matchAll(/\]\((?!https?:|mailto:)([^)#\s]*)(?:#([^)]+))?\)/g)].map(
    ([link, path, anchor]) => ({ link, path: path ? join(dirname(page), path) : page, anchor }),
  );

/** Returns the anchors of a page. A repeated heading gets a number. */
function anchorsOf(path: string): Set<string> {
  const anchors = new Set<string>();
  for (const [, heading] of withoutCode(path).matchAll(/^#+ (.+)$/gm)) {
    const slug = githubSlug(heading!.replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1'));
    let anchor = slug;
    for (let repeated = 1; anchors.has(anchor); repeated += 1) anchor = `${slug}-${repeated}`;
    anchors.add(anchor);
  }
  return anchors;
}

it.each(pages)('every link of %s leads to a file and a heading that exist', (page) => {
  const broken = linksOf(page).filter(({ path, anchor }) => {
    if (!existsSync(join(root, path))) return true;
    return anchor !== undefined && path.endsWith('.md') && !anchorsOf(path).has(anchor);
  });
  expect(broken.map(({ link }) => link)).toEqual([]);
});

it('docs/README.md leads to every page of docs, directly or through other pages', () => {
  const reached = new Set(['docs/README.md']);
  for (const page of reached)
    for (const { path } of linksOf(page)) if (/^docs\/.*\.md$/.test(path)) reached.add(path);
  expect(pages.filter((page) => page.startsWith('docs/') && !reached.has(page))).toEqual([]);
});
