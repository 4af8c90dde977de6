import { describe, expect, it } from 'vitest';
import { describeFields, recordTable, table } from '../../../src/cli/terminal/table.ts';

describe('a table on a terminal', () => {
  it('table() formats as many rows as the warehouse has', () => {
    const rows = Array.from({ length: 150_000 }, () => ['']);
    expect(table(rows, 80).split('\n')).toHaveLength(150_000);
  });

  it('table() shortens ids in the middle on a narrow terminal, and no date, time or cursor', () => {
    const id = 'enrich-20261121-922b1d9f2';
    const shown = table(
      [[id, id, id, '2026-11-21 08:42', '120034-99871234', '2026-11-21T08:42:52.123Z']],
      60,
    );
    expect(shown).toContain('enri…9f2');
    for (const whole of ['2026-11-21', '08:42', '120034-99871234', '2026-11-21T08:42:52.123Z'])
      expect(shown).toContain(whole);
  });
});

it('recordTable() lists the fields of each record if the columns do not fit the terminal', () => {
  const names = Array.from({ length: 9 }, (_, index) => `column_${index + 1}`);
  const records = [names.map((name) => `value of ${name}`), names.map(() => '')];
  expect(recordTable(names, records, 60).split('\n').slice(0, 3)).toEqual([
    'row 1',
    '  column_1  value of column_1',
    '  column_2  value of column_2',
  ]);
  expect(recordTable(names, records, 60).split('\n').slice(10, 12)).toEqual(['row 2', '  column_1']);
  expect(recordTable(names, records, 200)).toBe(table([names, ...records], 200));
  expect(recordTable(names.slice(0, 5), records, 60)).not.toContain('row 1');
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
