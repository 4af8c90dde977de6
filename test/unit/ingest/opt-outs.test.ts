import { expect, it } from 'vitest';
import { mapColumns, type ColumnMap } from '../../../src/ingest/columns/column-map.ts';
import { requireValidMapping } from '../../../src/ingest/columns/mapping-file.ts';
import { countOptOuts, readOptOutCell, optOutMeaning } from '../../../src/ingest/columns/opt-outs.ts';
import examples from '../../data/opt-outs.json' with { type: 'json' };

const labels = Object.entries(examples.headers).flatMap(([language, meanings]) =>
  Object.entries(meanings).flatMap(([meaning, names]) =>
    names.map((name) => [language, name, ...meaning.split('/')]),
  ),
);

it.each(labels)('opt-out headers (%s): the column %j is read as a %s of %s', (_, name, polarity, scope) => {
  expect(optOutMeaning(name)).toEqual({ polarity, scope });
  expect(optOutMeaning(name.normalize('NFD'))).toEqual({ polarity, scope });
});

it.each(examples.noOptOuts)('the column %j is read neither as an opt-out nor as a consent', (name) => {
  expect(optOutMeaning(name)).toBeUndefined();
});

it('optOutMeaning() reads a header of 300,000 characters within the time limit of a test', () => {
  expect(optOutMeaning('cancel '.repeat(50_000))).toBeUndefined();
});

const { refusalInRefusals, nothingInRefusals, refusalInConsents, consentInConsents, notUnderstood } =
  examples.answers;
const [out, not, unread] = ['opted out', 'not opted out', 'not understood'] as const;
const answers = (
  [
    [refusalInRefusals, 'refusal', out],
    [[...nothingInRefusals, '', ' '], 'refusal', not],
    [refusalInConsents, 'consent', out],
    [[...consentInConsents, ''], 'consent', not],
    // The last cell has a million characters and must be read within the time limit of a test.
    [[...notUnderstood, 'não '.repeat(250_000)], 'refusal', unread],
    [notUnderstood, 'consent', unread],
    [['Web form, Graz'], 'basis', not],
    [['withdrawn'], 'basis', out],
  ] as const
).flatMap(([cells, polarity, answer]) =>
  cells.map((cell) => ({ shown: cell.slice(0, 40), cell, polarity, answer })),
);

it.each(answers)('the cell $shown in a column of $polarity means $answer', ({ cell, polarity, answer }) => {
  expect(readOptOutCell(cell, polarity)).toBe(answer);
});

it.each(['Ne plus  contacter ', 'ABMELDUNG\u00a0', 'De\u0301sabonne\u0301'])(
  'if a mapping file lists opt-out values, only these values mean opted out, in any spelling: %j',
  (value) => {
    const mapping = requireValidMapping({ columns: { opted_out: { column: 'State', values: [value] } } });
    const layout = { header: ['Email', 'State'], recognised: true, rows: [] };
    const [column] = mapColumns('file.csv', layout, { mapping }).optOuts;
    const read = (cell: string): string => column!.read(['', cell]);
    expect(read(value.trim().normalize('NFC').replaceAll('  ', ' ').toLowerCase())).toBe('opted out');
    expect(read('no_consent')).toBe('not opted out');
  },
);

const map = (name: string, cells: string[], mapping?: Record<string, unknown>): ColumnMap =>
  mapColumns(
    'contacts.csv',
    {
      header: ['Email', name, 'Email Opt Out'],
      recognised: true,
      rows: cells.map((cell, row) => [`ann${row}@acme.example`, cell, '']),
    },
    { mapping: mapping && requireValidMapping(mapping) },
  );

it.each(Object.entries(examples.unclear))(
  'a file with the unclear consent column %s is refused, and the error shows two mappings to choose from',
  (name, cells) => {
    expect(() => map(name, cells)).toThrow(
      expect.objectContaining({
        type: 'mapping.consent-unclear',
        exitCode: 2,
        message: `1 column may say who has consented or opted out, and no rule says how: ${name}`,
        next: expect.stringMatching(/"opted_out": \{"column": 2, "values".*\{"ignore": \[2\]\}$/),
      }),
    );
  },
);

it.each(Object.entries(examples.clear))(
  'the values of the column %s are clear, so the file is read without a warning',
  (name, cells) => {
    expect(map(name, cells).warnings).toEqual([]);
  },
);

it('a mapping file can list the values of an unclear consent column, or ignore the column', () => {
  expect(map('RODO', ['TAK'], { ignore: ['RODO'] }).optOuts).toHaveLength(1);
  const given = { columns: { opted_out: { column: 'RODO', values: ['NIE'] } } };
  expect(map('RODO', ['TAK'], given).optOuts).toHaveLength(2);
});

it('an unclear consent column with empty first rows: every later value is not understood', () => {
  const [column] = map('RODO', ['', '']).optOuts;
  const read = ['yes', 'no', ''].map((cell) => column!.read(['', cell]));
  expect(read).toEqual(['not understood', 'not understood', 'not opted out']);
});

const rows = ['TRUE', 'FALSE', 'FALSE', 'pending'];
const countsOf = (header: string[], mapping?: Record<string, unknown>): string[] => {
  const given = { mapping: mapping && requireValidMapping(mapping) };
  const counts = countOptOuts(mapColumns('c.csv', { header, recognised: true, rows: [] }, given).optOuts);
  for (const cell of rows) counts.add(['a@x.example', cell, '']);
  return counts.warnings();
};

it('a warning about an opt-out column that excludes most rows has the counts and a mapping', () => {
  expect(countsOf(['Email', 'Email Opt In Double', 'Do Not Call'])).toEqual([
    'column "Email Opt In Double" excludes 3 of 4 rows as opted out; 1 answer is not understood; ' +
      'to list the answers that mean "opted out": --mapping FILE with ' +
      '{"columns": {"opted_out": {"column": 2, "values": ["…"]}}}',
  ]);
});

it('a warning names opt-out values of a mapping file that no row has', () => {
  const mapping = { columns: { opted_out: { column: 'State', values: ['true', 'gone'] } } };
  expect(countsOf(['Email', 'State', 'x'], mapping)).toEqual([
    'column "State" excludes 1 of 4 rows as opted out',
    expect.stringMatching(/^no row has "gone" in column "State".*check the spelling/),
  ]);
});
