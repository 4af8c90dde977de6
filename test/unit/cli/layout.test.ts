import { expect, it } from 'vitest';
import {
  describeFields,
  paint,
  recordTable,
  rendered,
  table,
  widthOf,
  wrapHelp,
  wrapLines,
} from '../../../src/cli/terminal/layout.ts';

it('table() formats as many rows as the warehouse has', () => {
  const rows = Array.from({ length: 150_000 }, () => ['']);
  expect(table(rows, 80).split('\n')).toHaveLength(150_000);
});

it('table() shortens ids in the middle on a narrow terminal, and no date, time or cursor', () => {
  const id = 'enrich-20261121-922b1d9f2';
  const shown = table([[id, id, id, '2026-11-21 08:42', '120034-99871234', '2026-11-21T08:42:52.123Z']], 60);
  expect(shown).toMatch(/enr\S*…\S*9f2/);
  for (const whole of ['2026-11-21', '08:42', '120034-99871234', '2026-11-21T08:42:52.123Z'])
    expect(shown).toContain(whole);
});

it('table() aligns columns and keeps within the terminal with Chinese names, which take two columns', () => {
  expect(
    table(
      [
        ['王小明', 12, 'a'],
        ['Ada', 1_000, 'b'],
      ],
      80,
    ).split('\n'),
  ).toEqual(['  王小明     12  a', '  Ada     1,000  b']);
  for (const line of table([['有限公司'.repeat(9), '王小明 '.repeat(9)]], 40).split('\n'))
    expect(widthOf(line)).toBeLessThanOrEqual(40);
});

it('recordTable() lists the fields of each record if the columns do not fit the terminal', () => {
  const names = Array.from({ length: 9 }, (_, index) => `column_${index + 1}`);
  const records = [names.map((name) => `value of ${name}`), names.map(() => '')];
  expect(recordTable(names, records, 60).split('\n').slice(0, 3)).toEqual([
    'row 1',
    '  column_1  value of column_1',
    '  column_2  value of column_2',
  ]);
  expect(recordTable(names, records, 200)).toBe(table([names, ...records], 200));
  expect(
    recordTable(
      names.slice(0, 5),
      records.map((record) => record.slice(0, 5)),
      60,
    ),
  ).not.toContain('row 1');
  expect(recordTable(names, [], 60)).toContain('column_1');
});

it('describeFields() lists the fields of a JSON output that have a value', () => {
  const facts = { attempt_id: 'a1', reason: null, rows: [3, 4], late: true, admitted_at: new Date(0) };
  expect(describeFields(facts).split('\n')).toEqual([
    '  attempt id   a1',
    '  rows         3, 4',
    '  late         yes',
    '  admitted at  1970-01-01T00:00:00.000Z',
  ]);
});

it('wrapHelp() breaks paragraphs that do not fit the terminal, and keeps headings, options and examples whole', () => {
  const help = [
    'Usage: enrich run FILE',
    '',
    'The same command after a kill continues',
    'the run.',
    '',
    'Examples:',
    '  enrich run contacts.csv --yes --max-credits 500',
    '',
    'Short.',
    'Lines.',
    '',
  ].join('\n');
  expect(wrapHelp(help, 24)).toBe(
    help.replace(
      'The same command after a kill continues\nthe run.',
      'The same command after a\nkill continues the run.',
    ),
  );
  expect(wrapHelp(help, Number.POSITIVE_INFINITY)).toBe(help);
});

it('wrapLines() breaks a text between words and indents continuation lines by two more columns', () => {
  expect(wrapLines('  not used: title, tags, sales, phone', 20)).toBe(
    ['  not used: title,', '    tags, sales,', '    phone'].join('\n'),
  );
});

it('wrapLines() keeps fitting lines unchanged, spaces included', () => {
  expect(wrapLines('a   b\n  c', 6)).toBe('a   b\n  c');
});

it('wrapLines() keeps an address whole that is longer than a line', () => {
  expect(wrapLines('at http://warehouse.example:5432/enrich now', 12)).toContain(
    'http://warehouse.example:5432/enrich',
  );
});

it('wrapLines() counts no columns for a style', () => {
  const text = `${paint('yellow', 'warning:')} ten`;
  expect(wrapLines(text, widthOf(text))).toBe(text);
});

it('wrapLines() does not break a text in a file or a pipe', () => {
  const text = 'word '.repeat(100);
  expect(wrapLines(text, Number.POSITIVE_INFINITY)).toBe(text);
});

it('rendered() makes control characters of foreign text visible, also those of a style', () => {
  const pipe = { isTTY: false } as NodeJS.WriteStream;
  expect(rendered(paint('red', 'a\u001b[2J\ufdd1'), pipe)).toBe('a\\u001b[2J\\ufdd1');
});
