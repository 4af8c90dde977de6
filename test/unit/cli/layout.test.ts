import { expect, it } from 'vitest';
import { describeFields, table } from '../../../src/cli/terminal/output.ts';

it('table() aligns columns with wide Chinese characters, and leaves out rows that are false', () => {
  const rows = [['王小明', 12, 'a'], false, ['Ada', 1_000, 'b']] as const;
  expect(table(rows).split('\n')).toEqual(['  王小明     12  a', '  Ada     1,000  b']);
});

it.each([
  [20, ['  Ada Oka…  Head of…', '  王小明    👩‍🚀 Pilot']],
  [18, ['  Ada Ok…  Head o…', '  王小明   👩‍🚀 Pil…']],
  [40, ['  Ada Okafor  Head of Logistics', '  王小明      👩‍🚀 Pilot']],
])('table() shortens cells between two characters until a line fits into %i columns', (width, lines) => {
  const rows = [
    ['Ada Okafor', 'Head of Logistics'],
    ['王小明', '👩‍🚀 Pilot'],
  ];
  expect(table(rows, width).split('\n')).toEqual(lines);
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
