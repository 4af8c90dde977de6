import { describe, expect, it } from 'vitest';
import { describeFields, table } from '../../../src/cli/terminal/table.ts';

describe('a table on a terminal', () => {
  it('table() formats as many rows as the warehouse has', () => {
    const rows = Array.from({ length: 150_000 }, () => ['']);
    expect(table(rows, 80).split('\n')).toHaveLength(150_000);
  });
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
