import { existsSync, readFileSync } from 'node:fs';
import { expect, it } from 'vitest';

const folder = new URL('../../', import.meta.url);
const files = [...readFileSync(new URL('README.md', folder), 'utf8').matchAll(/`([\w/-]+\.test\.ts)`/g)].map(
  (match) => match[1]!,
);

it('test/README.md names only test files that exist', () => {
  expect(files.length).toBeGreaterThan(35);
  expect(files.filter((file) => !existsSync(new URL(file, folder)))).toEqual([]);
});
