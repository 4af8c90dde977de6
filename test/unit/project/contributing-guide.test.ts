import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';

const root = fileURLToPath(new URL('../../../', import.meta.url));
const read = (path: string): string => readFileSync(join(root, path), 'utf8');

const guide = read('CONTRIBUTING.md');
const namedPaths = [
  ...guide.matchAll(/`((?:src|workflows|activities|test|docs|deploy)\/[\w./-]+|\.env\.example)`/g),
].map(([, path]) => path!);

it.each([...new Set(namedPaths)])('the path %s in CONTRIBUTING.md exists', (path) =>
  expect(existsSync(join(root, path))).toBe(true),
);

it('the layout in CONTRIBUTING.md has a line for every folder of src', () => {
  const folders = readdirSync(join(root, 'src'), { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => `src/${name}`);
  expect(folders.filter((folder) => !guide.includes(`| \`${folder}\` `))).toEqual([]);
});

const docs = readdirSync(join(root, 'docs'), { recursive: true, encoding: 'utf8' }).filter((name) =>
  name.endsWith('.md'),
);
const pages = ['README.md', 'CONTRIBUTING.md', 'CHANGELOG.md', ...docs.map((name) => `docs/${name}`)];

/** As GitHub makes anchors of headings. */
function anchorsOf(path: string): string[] {
  return [...read(path).matchAll(/^#+ (.+)$/gm)].map(([, heading]) =>
    heading!
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N} _-]/gu, '')
      .replaceAll(' ', '-'),
  );
}

it.each(pages)('every link of %s leads to a file and a heading that exist', (page) => {
  const broken = [...read(page).matchAll(/\]\((?!https?:)([^)#\s]*)(?:#([^)]+))?\)/g)].filter(
    ([, path, anchor]) => {
      const target = path ? join(dirname(page), path) : page;
      if (!existsSync(join(root, target))) return true;
      return anchor !== undefined && target.endsWith('.md') && !anchorsOf(target).includes(anchor);
    },
  );
  expect(broken.map(([link]) => link)).toEqual([]);
});

it('the index of docs, or the first page of commands, errors or tables, lists every page', () => {
  const indexes = ['README', 'reference/commands', 'reference/errors', 'reference/tables'];
  const links = indexes.map((name) => read(`docs/${name}.md`)).join('\n');
  const missing = docs.filter(
    (path) => path !== 'README.md' && !links.includes(`(${path}`) && !links.includes(`(${basename(path)}`),
  );
  expect(missing).toEqual([]);
});

it('the README has at most 150 lines', () => {
  expect(read('README.md').split('\n').length).toBeLessThanOrEqual(151);
});
