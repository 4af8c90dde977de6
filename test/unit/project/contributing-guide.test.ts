import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
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

it('the README has at most 150 lines', () => {
  expect(read('README.md').split('\n').length).toBeLessThanOrEqual(151);
});
