import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { mapColumns, type ColumnMap } from '../../../src/ingest/columns/column-map.ts';
import { recordedMapping, recordedNames } from '../../../src/ingest/columns/fields.ts';
import { requireValidMapping } from '../../../src/ingest/columns/mapping-file.ts';
import { recogniseExport } from '../../../src/ingest/columns/recognise-export.ts';
import cases from '../../data/ingest/export-columns.json' with { type: 'json' };

interface Given {
  readonly header: readonly string[];
  readonly rows?: readonly (readonly string[])[];
  readonly mapping?: Readonly<Record<string, unknown>> | undefined;
  readonly source?: string | undefined;
}

function map({ header, rows = [], mapping, source }: Given): ColumnMap {
  const given = { mapping: mapping && requireValidMapping(mapping), source };
  return mapColumns('c.csv', { header, recognised: true, rows }, given);
}

/** Returns the columns that are read for each field, in order of preference. */
function taken(example: Given): Record<string, string[]> {
  const { fields, optOuts } = map(example);
  const all = Object.entries({ ...fields, opted_out: optOuts.map(({ column }) => column) });
  return Object.fromEntries(
    all
      .filter(([, list]) => list.length > 0)
      .map(([field, list]) => [field, list.map((at) => example.header[at]!)]),
  );
}

/** An example of columns.jsonl. `|` separates cells. */
interface Example {
  readonly title: string;
  readonly header: string;
  readonly rows?: readonly string[];
  readonly mapping?: Given['mapping'];
  readonly source?: string;
  readonly taken?: Readonly<Record<string, string>>;
  readonly warnings?: readonly string[];
  readonly problem?: Readonly<Record<string, string>>;
}

const given = ({ header, rows = [], mapping, source }: Example): Given => ({
  header: header.split('|'),
  rows: rows.map((row) => row.split('|')),
  mapping,
  source,
});
const matching = (text: string): unknown => expect.stringMatching(new RegExp(text));

const examples = readFileSync(new URL('../../data/ingest/columns.jsonl', import.meta.url), 'utf8')
  .trimEnd()
  .split('\n')
  .map((line) => JSON.parse(line) as Example);
/** Each example has the title first, because vitest cuts a `$title` after 40 characters. */
const examplesWith = (member: keyof Example) =>
  examples.flatMap((each) => (each[member] === undefined ? [] : [[each.title, each] as const]));

it.each(examplesWith('taken'))('%s', (_, example) => {
  const joined = Object.entries(taken(given(example))).map(([field, names]) => [field, names.join('|')]);
  expect(Object.fromEntries(joined)).toEqual(example.taken);
});

it.each(examplesWith('warnings'))('%s', (_, example) => {
  expect(map(given(example)).warnings).toEqual(example.warnings!.map(matching));
});

it.each(examplesWith('problem'))('%s', (_, example) => {
  const problem = Object.entries(example.problem!).map(([member, text]) => [member, matching(text)]);
  expect(() => map(given(example))).toThrow(expect.objectContaining(Object.fromEntries(problem)));
});

it.each(cases.signatures)('the CRM %s is recognised by its columns: %s', (source, header) => {
  expect(recogniseExport({ header: header.split(','), rows: [] })?.source).toBe(source);
});

it.each(cases.unknownSignatures)('no CRM is recognised by %s: %s', (_, header) => {
  expect(recogniseExport({ header: header.split(','), rows: [] })).toBeUndefined();
});

it.each(cases.recordIds)(
  'the CRM %s is recognised by columns and record id together: %s with %s',
  (source, header, id) => {
    const names = header.split(',');
    const row = names.map((_, column) => (column === 0 ? id : ''));
    expect(recogniseExport({ header: names, rows: [row] })?.source ?? 'none').toBe(source);
  },
);

it('columns are read from a header with SQL, empty, repeated, very long and __proto__ names', () => {
  const header = ['__proto__', "'; drop table runs; --", 'x'.repeat(300), '', '', 'Email', 'Email'];
  const columns = map({ header, mapping: { columns: { name: 1, email: [6, 7] } } });
  expect(JSON.stringify(recordedMapping(header, columns))).toBe(
    '{"__proto__":"name","Email":"email","Email (column 7)":"email"}',
  );
  expect(recordedNames(header).slice(0, 5)).toEqual([...header.slice(0, 3), '(column 4)', '(column 5)']);
});

it('the column with values is used if two columns have the same name', () => {
  const rows = [['', 'ada@orbit.example']];
  expect(map({ header: ['Email', 'Email'], rows }).fields.email).toEqual([1]);
});

it.each(cases.names)('names, e-mail and company are read from the headers %s, %s, %s, %s', (...header) => {
  const [first_name, last_name, email, organization_name] = header.map((name) => [name]);
  expect(taken({ header })).toEqual({ first_name, last_name, email, organization_name });
});

it.each(cases.wholeNames)(
  'a column %s is read as full names if there is no column of last names',
  (name, company) => {
    expect(taken({ header: [name, company] })).toEqual({ name: [name], organization_name: [company] });
  },
);

it.each(cases.furtherAddresses)(
  'a primary and a secondary e-mail are read from the headers %s, %s',
  (first, second) => {
    const company = 'Nombre de Cuenta';
    expect(taken({ header: [first, second, company] })).toEqual({
      email: [first, second],
      organization_name: [company],
    });
  },
);

it.each(cases.contactIds)('a column %s is read as the record id', (id, first, last) => {
  const header = [id, first, last, 'E-mail'];
  expect(taken({ header })).toMatchObject({ contact_id: [id], first_name: [first], last_name: [last] });
});
