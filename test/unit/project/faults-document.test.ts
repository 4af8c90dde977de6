import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';

/** docs/faults.md names a test for every fault: it has to be there, under that name. */
const document = new URL('../../../docs/faults.md', import.meta.url);
const rows = readFileSync(document, 'utf8')
  .split('\n')
  .filter((line) => line.startsWith('|') && !/^\| (?:what happens|-)/.test(line));

it('lists faults', () => expect(rows.length).toBeGreaterThan(35));

it.each(rows)('%s', (row) => {
  const [, path, title] = /\]\((\.\.\/test\/[^)]+)\) “([^”]+)”/.exec(row) ?? [];
  expect(path, 'a link to a test, and its name').toBeDefined();
  expect(readFileSync(new URL(path!, document), 'utf8')).toContain(title);
});
