import { existsSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';

/** docs/interface-coverage.md names its tests by short names: they have to exist, and nothing may stand without one. */
const document = readFileSync(new URL('../../../docs/interface-coverage.md', import.meta.url), 'utf8');

interface Row {
  readonly section: string;
  readonly cells: readonly string[];
  readonly header: readonly string[];
}

function readRows(): Row[] {
  const rows: Row[] = [];
  let section = '';
  let header: string[] | undefined;
  for (const line of document.split('\n')) {
    if (line.startsWith('## ')) section = line.slice(3);
    if (!line.startsWith('|')) {
      header = undefined;
      continue;
    }
    const cells = line
      .split('|')
      .slice(1, -1)
      .map((cell) => cell.trim());
    if (header === undefined) header = cells;
    else if (!cells.every((cell) => /^-+$/.test(cell))) rows.push({ section, cells, header });
  }
  return rows;
}

const rows = readRows();
const tests = new Map(
  rows
    .filter(({ header }) => header[0] === 'short')
    .map(({ cells: [short = '', file = ''] }) => [
      short,
      [...file.matchAll(/`([^`]+\.test\.ts)`/g)].map((match) => match[1]!),
    ]),
);
const testColumns = ['Client', 'Sandbox', 'Test'];
/** The names in the cells of a row that name tests; `(never sent)` and the like are remarks. */
const coverage = rows
  .filter(({ header }) => header.some((name) => testColumns.includes(name)))
  .map(({ cells, header }) => ({
    what: cells[0] ?? '',
    named: cells
      .filter((_, column) => testColumns.includes(header[column] ?? ''))
      .flatMap((cell) => cell.replaceAll(/\([^)]*\)/g, '').split(','))
      .map((each) => each.trim())
      .filter((each) => each !== ''),
  }));

describe('the table of what covers the interface', () => {
  it('docs/interface-coverage.md names files that exist', () => {
    const files = [...tests.values()].flat();
    expect(files.length).toBeGreaterThan(30);
    expect(files.filter((file) => !existsSync(new URL(`../../${file}`, import.meta.url)))).toEqual([]);
  });

  it('docs/interface-coverage.md knows every test that it names', () => {
    const unknown = coverage.flatMap(({ what, named }) =>
      named.filter((each) => !tests.has(each) && !remarks.has(each)).map((each) => `${what}: ${each}`),
    );
    expect(unknown).toEqual([]);
  });

  it('docs/interface-coverage.md names a test for every record, rule and error', () => {
    expect(coverage.length).toBeGreaterThan(80);
    expect(coverage.filter(({ named }) => named.length === 0)).toEqual([]);
  });

  it('docs/interface-coverage.md has a use for every test that it lists', () => {
    const tables = document.slice(document.indexOf('## Resources'));
    const unused = [...tests.keys()].filter(
      (short) => !new RegExp(`(?<![\\w-])${short}(?![\\w-])`).test(tables),
    );
    expect(unused).toEqual([]);
  });
});

/** In the place of a test: a rule of operations that nothing here calls. */
const remarks = new Set(['none of the operations used has one']);
