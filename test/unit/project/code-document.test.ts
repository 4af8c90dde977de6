import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { describe, expect, it } from 'vitest';

/** What newcomers are sent to has to be there. */
const root = new URL('../../../', import.meta.url);
const read = (path: string): string => readFileSync(new URL(path, root), 'utf8');

describe('docs/code.md', () => {
  const named = [
    ...read('docs/code.md').matchAll(
      /`((?:src|workflows|test|docs|deploy|scripts)\/[\w./-]+|\.env\.example)`/g,
    ),
  ].map(([, path]) => path!);

  it('names files', () => expect(named.length).toBeGreaterThan(50));

  it.each([...new Set(named)])('%s is there', (path) => expect(existsSync(new URL(path, root))).toBe(true));
});

it('the README has a line for every room', () => {
  const rooms = readdirSync(new URL('src', root), { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => `src/${name}`);
  const readme = read('README.md');
  expect(rooms.filter((room) => !readme.includes(`| \`${room}\` `))).toEqual([]);
});
