import { expect, it } from 'vitest';
import {
  requireValidData,
  expandPlaceholders,
  headersOfColumn,
  importers,
  importerInAccountLanguage,
  type ImporterName,
} from '../../../src/domain/crm/crm.ts';
import { z } from 'zod';
import { headerKey } from '../../../src/domain/text/header-name.ts';
import { requireOwnSource } from '../../../src/cli/commands/export.ts';
import { readPolicyPairs } from '../../../src/domain/crm/field-policy.ts';
import { spreadsheetLine } from '../../../src/export/crm-import/write-import-files.ts';

it.each([
  ['hubspot', 'first_name last_name title city', 'Imię|Nazwisko|Stanowisko|Miasto', 'Record ID'],
  ['hubspot', 'first_name last_name title city', 'Ad|Soyad|Unvan|Şehir', 'Record ID'],
  ['hubspot', 'first_name last_name title city', '이름|성|직책|도시', '레코드 ID'],
  ['hubspot', 'first_name title phone', 'Vorname|Jobtitel|Telefonnummer', 'Datensatz-ID'],
  ['dynamics', 'city state country', '地址 1: 市/县|地址 1: 省/市/自治区|地址 1: 国家/地区', 'Contact'],
  ['dynamics', 'first_name country', 'Prénom|Adresse 1 : Pays/région', 'Contact'],
  [
    'pipedrive',
    'first_name phone',
    'Person - Vorname|Person - Telefon - Büro',
    'Person - Pipedrive System ID',
  ],
] as const)(
  'importerInAccountLanguage() writes the headers of %s in the language of the newest export: %s as %s',
  (name, fields, labels, id) => {
    const exports = [[id, ...labels.split('|')], ['Notes']];
    const { columns, idHeader, exported } = importerInAccountLanguage(importers[name], exports);
    const headers = Object.entries(columns).map(([field, { header }]) => [field, header]);
    const expected = fields.split(' ').map((field, at) => [field, labels.split('|')[at]]);
    expect(Object.fromEntries(headers)).toMatchObject(Object.fromEntries(expected));
    expect([...exported].toSorted()).toEqual(fields.split(' ').toSorted());
    expect(idHeader).toBe(id);
  },
);

it.each<[ImporterName, string]>([
  // These are columns of full names, and a label that is a country in Polish and a region in Czech.
  ['pipedrive', 'Persona - Nombre'],
  ['pipedrive', 'Pessoa - Nome'],
  ['pipedrive', 'Personne - Nom'],
  ['hubspot', 'Kraj'],
])(
  'importerInAccountLanguage() keeps English headers of %s if the export has only the ambiguous column %s',
  (name, label) => {
    expect([...importerInAccountLanguage(importers[name], [[label]]).exported]).toEqual([]);
  },
);

it('requireValidData() names the file and the position of a mistake', () => {
  const schema = z.strictObject({ importer: z.strictObject({ maxRows: z.int() }) });
  expect(() => requireValidData('hubspot.json', schema, { importer: { maxRows: 'many' } })).toThrow(
    /^hubspot\.json, importer\.maxRows: /,
  );
});

it('expandPlaceholders() writes one header for each entry of the lists in a template', () => {
  const lists = { person: ['Person', 'Persona'], email: ['Email', '{local}'], local: ['Correo'] };
  expect(expandPlaceholders(['{person} - {email}', 'ID'], lists)).toEqual([
    'Person - Email',
    'Person - Correo',
    'Persona - Email',
    'Persona - Correo',
    'ID',
  ]);
  expect(() => expandPlaceholders(['{nobody}'], lists)).toThrow('{nobody}: no list has the name nobody');
});

it('readPolicyPairs() reads a policy for each field, and ignores spaces', () => {
  expect(readPolicyPairs('title = overwrite-older, email=fill')).toMatchObject({
    title: 'overwrite-older',
    email: 'fill',
    phone: 'fill',
  });
});

it.each(['title', 'title=', '=fill', 'title=fill=never', ''])(
  'readPolicyPairs() refuses "%s", and the error names the form FIELD=POLICY',
  (text) => {
    expect(() => readPolicyPairs(text)).toThrow(`"${text}" is not FIELD=POLICY`);
  },
);

it('requireOwnSource() refuses contacts of another CRM, because record ids belong to one CRM', () => {
  expect(() => requireOwnSource('pipedrive', 'hubspot')).toThrow(
    'contacts of hubspot have no record ids of Pipedrive',
  );
});

it.each(['dynamics365', 'generic', 'my-crm'])(
  'requireOwnSource() accepts contacts of the source %s for the importer dynamics',
  (source) => {
    expect(() => requireOwnSource('dynamics', source)).not.toThrow();
  },
);

it.each([
  ['title', 'Contact: Title'],
  ['mobile_phone', 'Contact: Mobile'],
  ['city', 'Contact: Mailing City'],
  ['state', 'Contact: Mailing State/Province'],
] as const)(
  'the Salesforce field %s is recognised in reports of custom types by the header %s',
  (field, label) => {
    const headers = headersOfColumn(importers.salesforce.columns[field]!).map(headerKey);
    expect(headers).toContain(headerKey(label));
  },
);

it.each(['=1+1', "'=1", '+A1', '-1', '@x', ' =1', '\u00a0=1', '＝1+1', '＋A1', '－1', '＠x'])(
  'spreadsheetLine() writes an apostrophe before %j',
  (cell) => {
    expect(spreadsheetLine([cell]).replaceAll('"', '')).toBe(`'${cell}`);
  },
);

it.each(['+49 (30) 12-34', 'a=1', '', 'Ｊ'])('spreadsheetLine() writes no apostrophe before %j', (cell) => {
  expect(spreadsheetLine([cell])).toBe(cell);
});
