import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';

/** docs/faults.md names a test for every fault: the test must exist under that title. */
const document = new URL('../../../docs/faults.md', import.meta.url);
const rows = readFileSync(document, 'utf8')
  .split('\n')
  .filter((line) => line.startsWith('|') && !/^\| (?:Fault|-)/.test(line));

it('docs/faults.md lists faults', () => expect(rows.length).toBeGreaterThan(35));

it.each(rows)('the test in this row of docs/faults.md exists: %s', (row) => {
  const [, path, title] = /\]\((\.\.\/test\/[^)]+)\) “([^”]+)”/.exec(row) ?? [];
  expect(path, 'a link to a test, and its name').toBeDefined();
  expect(readFileSync(new URL(path!, document), 'utf8')).toContain(title);
});
