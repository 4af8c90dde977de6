import { PassThrough } from 'node:stream';
import { expect, it, onTestFinished, vi } from 'vitest';
import { describeFields, rendered, table } from '../../../src/cli/terminal/output.ts';

it('table() formats as many rows as the warehouse has', () => {
  const rows = Array.from({ length: 150_000 }, () => ['']);
  expect(table(rows).split('\n')).toHaveLength(150_000);
});

it('table() aligns columns with Chinese names, which take two columns, and leaves out rows that are false', () => {
  const rows = [['王小明', 12, 'a'], false, ['Ada', 1_000, 'b']] as const;
  expect(table(rows).split('\n')).toEqual(['  王小明     12  a', '  Ada     1,000  b']);
});

it('describeFields() lists the fields of a JSON output', () => {
  const facts = { attempt_id: 'a1', reason: null, rows: [3, 4], late: true, admitted_at: new Date(0) };
  expect(describeFields(facts).split('\n')).toEqual([
    '  attempt id   a1',
    '  reason       -',
    '  rows         3, 4',
    '  late         yes',
    '  admitted at  1970-01-01 00:00 UTC',
  ]);
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
