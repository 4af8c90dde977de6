import { PassThrough } from 'node:stream';
import { expect, it, onTestFinished, vi } from 'vitest';
import {
  describeFields,
  recordTable,
  rendered,
  table,
  wrapHelp,
  wrapLines,
} from '../../../src/cli/terminal/layout.ts';

it('table() formats as many rows as the warehouse has', () => {
  const rows = Array.from({ length: 150_000 }, () => ['']);
  expect(table(rows).split('\n')).toHaveLength(150_000);
});

it('table() aligns columns with Chinese names, which take two columns, and leaves out rows that are false', () => {
  const rows = [['王小明', 12, 'a'], false, ['Ada', 1_000, 'b']] as const;
  expect(table(rows).split('\n')).toEqual(['  王小明     12  a', '  Ada     1,000  b']);
});

it('recordTable() lists the fields of each record if the columns do not fit the terminal', () => {
  const names = Array.from({ length: 9 }, (_, index) => `column_${index + 1}`);
  const records = [names.map((name) => `value of ${name}`), names.map(() => '')];
  expect(recordTable(names, records, 60).split('\n').slice(0, 3)).toEqual([
    'row 1',
    '  column_1  value of column_1',
    '  column_2  value of column_2',
  ]);
  expect(recordTable(names, records, 240)).toBe(table([names, ...records]));
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

it('wrapLines() does not break a text in a file or a pipe', () => {
  const text = 'word '.repeat(100);
  expect(wrapLines(text, Number.POSITIVE_INFINITY)).toBe(text);
});

it.each([
  ['error: a\u001b[2J', '\u001b[31merror:\u001b[39m a\\u001b[2J'],
  ['12:03:44 warning: late', '12:03:44 \u001b[33mwarning:\u001b[39m late'],
  ['no error: here', 'no error: here'],
])(
  'rendered() colours only the mark of %j on a terminal, and makes control characters visible',
  (text, shown) => {
    vi.stubEnv('FORCE_COLOR', '1');
    onTestFinished(() => void vi.unstubAllEnvs());
    expect(rendered(text, Object.assign(new PassThrough(), { isTTY: true }) as never)).toBe(shown);
  },
);
