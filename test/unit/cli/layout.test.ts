import { expect, it } from 'vitest';
import {
  describeFields,
  fittedTable,
  formatTable,
  terminalWidth,
  wrapped,
} from '../../../src/cli/terminal/output.ts';

it('formatTable() aligns columns with wide Chinese characters, and leaves out rows that are false', () => {
  const rows = [['王小明', 12, 'a'], false, ['Ada', 1_000, 'b']] as const;
  expect(formatTable(rows).split('\n')).toEqual(['  王小明     12  a', '  Ada     1,000  b']);
});

it.each([
  [20, ['  Ada Oka…  Head of…', '  王小明    👩‍🚀 Pilot']],
  [18, ['  Ada Ok…  Head o…', '  王小明   👩‍🚀 Pil…']],
  [40, ['  Ada Okafor  Head of Logistics', '  王小明      👩‍🚀 Pilot']],
])(
  'formatTable() shortens cells between two characters until a line fits into %i columns',
  (width, lines) => {
    const rows = [
      ['Ada Okafor', 'Head of Logistics'],
      ['王小明', '👩‍🚀 Pilot'],
    ];
    expect(formatTable(rows, { width }).split('\n')).toEqual(lines);
  },
);

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

it('formatTable() shortens the columns in `cutFirst` to ten characters before it shortens other columns', () => {
  const rows = [['Ada Okafor', 'Head of Logistics', 'ada.okafor@acme.example']];
  expect(formatTable(rows, { width: 52, cutFirst: [1] })).toBe(
    '  Ada Okafor  Head of Logi…  ada.okafor@acme.example',
  );
  expect(formatTable(rows, { width: 40, cutFirst: [1] })).toBe('  Ada Okafor  Head of L…  ada.okafor@ac…');
});

it.each([
  [
    'prose, with two more spaces',
    '  a pilot of 20 people comes first; its results decide about the others',
    ['  a pilot of 20 people comes first; its', '    results decide about the others'],
  ],
  [
    'a label, below its text',
    'next:  check the path, and that this machine sees the file',
    ['next:  check the path, and that this', '       machine sees the file'],
  ],
  [
    'the last cell of a table, below the cell',
    '  warning  worker  no worker is running on this machine',
    ['  warning  worker  no worker is running', '                   on this machine'],
  ],
  [
    'a URL that is longer than the line, on a line of its own',
    'watch it: http://127.0.0.1:8233/namespaces/default/workflows/run-1',
    ['watch it:', '  http://127.0.0.1:8233/namespaces/default/workflows/run-1'],
  ],
  [
    'a command, which stays whole',
    '  next: with other people, enrich export --run 39ffc7 --output contacts.csv',
    ['  next: with other people,', '        enrich export --run 39ffc7 --output contacts.csv'],
  ],
  [
    'the first words of a command without options',
    'error: a run is unfinished now, enrich resume run-1 continues with its plan',
    ['error: a run is unfinished now,', '       enrich resume run-1 continues', '       with its plan'],
  ],
  [
    'wide Chinese characters',
    '王小明 王小明 王小明 王小明 王小明 王小明',
    ['王小明 王小明 王小明 王小明 王小明', '  王小明'],
  ],
])('wrapped() fits a line to 40 columns: %s', (_, line, lines) => {
  expect(wrapped(line, 40).split('\n')).toEqual(lines);
});

it('wrapped() leaves lines as they are without a terminal', () => {
  const line = 'word '.repeat(100);
  expect(wrapped(line, terminalWidth({ isTTY: false, columns: 80 }))).toBe(line);
  expect(wrapped(line, terminalWidth({ isTTY: true, columns: 0 }))).toBe(line);
});

it('fittedTable() gives each value a line of its own if the table is wider than the terminal', () => {
  const names = ['contact_id', 'email'];
  const rows = [
    ['1', 'ada.okafor@acme.example'],
    ['2', 'mei@hinode.example'],
  ];
  expect(fittedTable(names, rows, 40)).toBe(formatTable([names, ...rows]));
  expect(fittedTable(names, rows, 36).split('\n')).toEqual([
    'row 1',
    '  contact_id  1',
    '  email       ada.okafor@acme.example',
    'row 2',
    '  contact_id  2',
    '  email       mei@hinode.example',
  ]);
});
