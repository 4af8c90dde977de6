import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { mapColumns, type ColumnMap } from '../../../src/ingest/columns/column-map.ts';
import { recordedMapping, recordedNames } from '../../../src/ingest/columns/fields.ts';
import { checkedMapping } from '../../../src/ingest/columns/mapping-file.ts';
import { recogniseExport } from '../../../src/ingest/columns/recognise-export.ts';
import cases from '../../data/ingest/export-columns.json' with { type: 'json' };

interface Given {
  readonly header: readonly string[];
  readonly rows?: readonly (readonly string[])[];
  readonly mapping?: Readonly<Record<string, unknown>> | undefined;
  readonly source?: string | undefined;
}

function map({ header, rows = [], mapping, source }: Given): ColumnMap {
  const given = { mapping: mapping && checkedMapping(mapping), source };
  return mapColumns('c.csv', { header, recognised: true, rows }, given);
}

/** What is taken from a header: field → columns in order of preference. */
function taken(example: Given): Record<string, string[]> {
  const { fields, optOuts } = map(example);
  const all = Object.entries({ ...fields, opted_out: optOuts.map(({ column }) => column) });
  return Object.fromEntries(
    all
      .filter(([, list]) => list.length > 0)
      .map(([field, list]) => [field, list.map((at) => example.header[at]!)]),
  );
}

/** An example of the file, in which `|` stands between cells. */
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
const examplesWith = (member: keyof Example) => examples.filter((each) => each[member] !== undefined);

it.each(examplesWith('taken'))('$title', (example) => {
  const joined = Object.entries(taken(given(example))).map(([field, names]) => [field, names.join('|')]);
  expect(Object.fromEntries(joined)).toEqual(example.taken);
});

it.each(examplesWith('warnings'))('the warnings of columns with $title', (example) => {
  expect(map(given(example)).warnings).toEqual(example.warnings!.map(matching));
});

it.each(examplesWith('problem'))('a file is refused for $title', (example) => {
  const problem = Object.entries(example.problem!).map(([member, text]) => [member, matching(text)]);
  expect(() => map(given(example))).toThrow(expect.objectContaining(Object.fromEntries(problem)));
});

it.each(cases.firstAndLast as [string[], object][])(
  'the columns First and Last are names, and come behind longer headers: %j',
  (header, names) => {
    expect(taken({ header })).toEqual({ ...names, email: ['Email'] });
  },
);

describe('recognising a CRM', () => {
  it.each(cases.wholeSignatures as [string, string[]][])(
    'the CRM %s is recognised by its whole signature',
    (source, header) => {
      expect(recogniseExport({ header, rows: [] })?.source).toBe(source);
    },
  );

  it.each(cases.partialSignatures)(
    'the CRM %s is recognised by a part of its columns: %s',
    (source, header) => {
      expect(recogniseExport({ header: header.split(','), rows: [] })?.source).toBe(source);
    },
  );

  it.each(cases.unknownSignatures)('no CRM is recognised by %s: %s', (_, header) => {
    expect(recogniseExport({ header: header.split(','), rows: [] })).toBeUndefined();
  });

  it.each([
    ['salesforce', 'id,first_name,email', '0035e00000AbCdE'],
    ['salesforce', 'Id,Email,Phone', '00Q5e00000AbCdEAAV'],
    ['zoho', 'Record Id,Email', 'zcrm_410888000000698006'],
  ])('the CRM %s is recognised by the form of its record ids: %s', (source, header, id) => {
    const row = header.split(',').map((_name, column) => (column === 0 ? id : ''));
    expect(recogniseExport({ header: header.split(','), rows: [row] })?.source).toBe(source);
  });

  it.each(cases.foreignRecordIds)(
    'no CRM is recognised if record ids have a form that the CRM does not write: %s with %s',
    (header, id) => {
      expect(recogniseExport({ header: header.split(','), rows: [[id, '', '', '']] })).toBeUndefined();
    },
  );
});

describe('columns with names that confuse programs', () => {
  it('columns are taken despite characters in the header that confuse programs', () => {
    const header = ['__proto__', "'; drop table runs; --", 'x'.repeat(300), '', '', 'Email', 'Email'];
    const columns = map({ header, mapping: { columns: { email: [6, 7] } } });
    expect(JSON.stringify(recordedMapping(header, columns))).toBe(
      '{"Email":"email","Email (column 7)":"email"}',
    );
    expect(recordedNames(header).slice(0, 5)).toEqual([...header.slice(0, 3), '(column 4)', '(column 5)']);
  });

  it('a row can hold a column called __proto__', () => {
    const header = ['__proto__'];
    const columns = map({ header, mapping: { columns: { email: 1 } } });
    expect(JSON.stringify(recordedMapping(header, columns))).toBe('{"__proto__":"email"}');
  });

  it('of two columns with one name, the one with values is used', () => {
    const rows = [['', 'ada@orbit.example']];
    expect(map({ header: ['Email', 'Email'], rows }).fields.email).toEqual([1]);
  });
});

describe('headers of other languages and tools are understood', () => {
  it.each(cases.languages as [string, string[]][])(
    'headers of another language or tool are recognised: %s',
    (_, header) => {
      const [first_name, last_name, email, organization_name] = header.map((name) => [name]);
      expect(taken({ header })).toEqual({ first_name, last_name, email, organization_name });
    },
  );

  it.each(cases.handwritten)('headers that people write by hand are read: %s, %s, %s, %s', (...header) => {
    const [first_name, last_name, email, organization_name] = header.map((name) => [name]);
    expect(taken({ header })).toEqual({ first_name, last_name, email, organization_name });
  });

  it.each(cases.wholeNames)('a column %s without last names has whole names', (name, company) => {
    expect(taken({ header: [name, company] })).toEqual({ name: [name], organization_name: [company] });
  });

  it.each([
    ['hubspot', 'レコードID,姓,名,Eメール', '4001'],
    ['hubspot', '레코드 ID,성,이름,이메일', '4001'],
    ['salesforce', '取引先責任者 ID,姓,名,メール,取引先名', '0035e00000AbCdE'],
  ])('an export of %s is recognised in Japanese and Korean: %s', (source, header, id) => {
    expect(recogniseExport({ header: header.split(','), rows: [[id, '', '', '', '']] })?.source).toBe(source);
  });

  it.each(cases.furtherAddresses)(
    'headers of further addresses in other languages are read: %s, %s',
    (first, second) => {
      const company = 'Nombre de Cuenta';
      expect(taken({ header: [first, second, company] })).toEqual({
        email: [first, second],
        organization_name: [company],
      });
    },
  );

  it.each(cases.contactIds)(
    'a column %s has the ids of contacts, and Salesforce is recognised by them',
    (id, first, last) => {
      const header = [id, first, last, 'E-mail'];
      expect(taken({ header })).toMatchObject({ contact_id: [id], first_name: [first], last_name: [last] });
      const rows = [['0035e00000AbCdE', '', '', '']];
      expect(recogniseExport({ header, rows })?.source).toBe('salesforce');
    },
  );
});
