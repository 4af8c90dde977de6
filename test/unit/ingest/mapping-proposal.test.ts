import { describe, expect, it } from 'vitest';
import { proposeColumns, proposedMapping } from '../../../src/ingest/columns/propose-columns.ts';
import { openExport } from '../../../src/ingest/reading/open-export.ts';
import { exportFiles } from '../../helpers/exports/export-file.ts';
import cases from '../../data/ingest/mapping-proposal.json' with { type: 'json' };

const file = exportFiles();

it('proposeColumns() uses the cells first, then a known name within the name, then a column of ids', () => {
  const header = ['Kundennr', 'Epost', 'Kontakt Vorname', 'Stufe', 'Web', 'Profil', 'E-Mail-Sperre'];
  const rows = [
    ['1', 'mira@nordlys.example', 'Mira', 'lead', 'nordlys.example', '', 'ja'],
    [
      '2',
      'jon@nordlys.example',
      'Jon',
      'won',
      'www.nordlys.example',
      'https://www.linkedin.com/in/jon-berg',
      '',
    ],
  ];
  expect(proposeColumns(header, rows)).toEqual([
    'contact_id',
    'email',
    'first_name',
    undefined,
    'domain',
    'profile_url',
    undefined,
  ]);
});

it.each(cases.noCompanies)(
  'proposeColumns() never proposes %s as the company’s name if it is not',
  (name, ...cells) => {
    const rows = cells.map((cell, at) => [`${at}@orbit.example`, cell]);
    expect(proposeColumns(['Epost', name], rows)).toEqual(['email', undefined]);
  },
);

it.each(['Mailing street', 'Email confirmed', 'Domainname alt', 'LinkedIn connected'])(
  'proposeColumns() does not propose %s by its name if no cell can be read as the field',
  (name) => {
    expect(proposeColumns([name], [['Main Street 1'], ['']])).toEqual([undefined]);
  },
);

it.each(cases.colleagues)('proposeColumns() never proposes %s, which names a colleague', (name) => {
  const people = ['mira.berg@orbit.example', 'jon.lund@orbit.example', 'eva.roth@orbit.example'];
  for (const cells of [people, ['Mira Berg', 'Jon Lund', 'Eva Roth'], ['u-1', 'u-2', 'u-3']])
    expect(
      proposeColumns(
        [name, 'Deal'],
        cells.map((cell) => [cell, 'Renewal']),
      ),
    ).toEqual([undefined, undefined]);
});

it.each([
  ['Home Email', 'email'],
  ['Reply To', 'email'],
  ['Ownership Contact', 'email'],
])('proposeColumns() proposes %s, which only resembles the name of an owner', (name, field) => {
  expect(proposeColumns([name], [['mira@orbit.example'], ['jon@orbit.example']])).toEqual([field]);
});

it.each(cases.contactIds)('proposeColumns() proposes %s as the id of a contact', (name, first, second) => {
  const rows = [
    [first, 'mira@orbit.example'],
    [second, 'jon@orbit.example'],
  ];
  expect(proposeColumns([name, 'Mail'], rows)).toEqual(['contact_id', 'email']);
});

it('proposeColumns() proposes no dates, phone numbers or repeated values as the id of a contact', () => {
  const rows = [
    ['2026-01-02', 'mira@orbit.example', 'lead 1'],
    ['2026-01-03', 'jon@orbit.example', 'lead 1'],
  ];
  expect(proposeColumns(['Seit', 'Mail', 'Stufe Nr'], rows)).toEqual([undefined, 'email', undefined]);
  expect(proposeColumns(['Tel'], [['+49301234'], ['+49301235']])).toEqual([undefined]);
  expect(proposeColumns(['電話番号'], [['0312345'], ['0312346']])).toEqual([undefined]);
});

it.each(['Unternehmens-ID', 'Identifiant entreprise', 'Identificador de la empresa'])(
  'proposeColumns() does not propose %s, which is the id of a company, as the id of a contact',
  (name) => {
    const rows = [
      ['mira@orbit.example', 'c1'],
      ['jon@orbit.example', 'c2'],
    ];
    expect(proposeColumns(['Mail', name], rows)).not.toContain('contact_id');
  },
);

it('proposeColumns() proposes no column for names that exports are known to have for something else', () => {
  const rows = [
    ['701', 'Chief Financial Officer', 'San José', 'Bad Tölz'],
    ['702', 'Sales Manager', 'New York', 'Bad Aibling'],
  ];
  expect(proposeColumns(['Record ID', 'Job Title', 'City', 'Address 1: City'], rows)).toEqual([
    'contact_id',
    undefined,
    undefined,
    undefined,
  ]);
});

it('proposeColumns() proposes each field for one column, and emails for all that hold addresses', () => {
  const header = ['Main', 'Other', 'Their firm', 'Old firm'];
  const rows = [['a@orbit.example', 'b@orbit.example', 'Orbit', 'Acme']];
  expect(proposeColumns(header, rows)).toEqual(['email', 'email', 'organization_name', undefined]);
});

describe('a mapping file that cannot be meant', () => {
  const rows = Array.from({ length: 120 }, (_, row) => `${row},Acme,lead,p${row}@acme.example`);
  const path = (): string => file(`Nr,Firma,Phase,Mail\n${rows.join('\n')}\n`);

  it.each(cases.implausible)(
    'an implausible mapping file is refused with counts and no cell: %s in column %s',
    async (field, column, what) => {
      const email = column === 'Mail' ? [] : 'Mail';
      const refused = openExport(path(), { mapping: { columns: { email, [field]: column } } });
      await expect(refused).rejects.toMatchObject({
        type: 'mapping.implausible',
        message: `column "${column}" is no ${field}: ${what}`,
        exitCode: 2,
      });
    },
  );
});

it('proposedMapping() names a column by its number if its name is repeated, missing or like a person', () => {
  const header = ['Mail', '', 'Mail', 'ada@orbit.example', 'Firm', 'Phase'];
  const fields = ['email', 'contact_id', 'email', 'name', 'organization_name', undefined] as const;
  expect(JSON.parse(proposedMapping(header, fields)!)).toEqual({
    columns: { email: [1, 3], contact_id: 2, name: 4, organization_name: 'Firm' },
  });
  expect(proposedMapping(['Phase'], [undefined])).toBeUndefined();
});

it('the warning of a file that is half recognised has a mapping file that reads the columns left out', async () => {
  const header = 'Kd-Nr.;Vorname;Nachname;E-Mail-Anschrift;Firma / Arbeitgeber;Webseite;Bemerkung';
  const rows = [
    'K-1;Mira;Berg;mira@orbit.example;Orbit;orbit.example;',
    'K-2;Jon;Lund;jon@acme.example;Acme;;x',
  ];
  const path = file([header, ...rows, ''].join('\n'));
  const { warnings } = (await openExport(path, {})).columns;
  expect(warnings).toEqual([
    expect.stringMatching(
      /"Kd-Nr." \(contact_id\), "E-Mail.*" \(email\), "Firma .*" \(organization_name\).*before the first run/,
    ),
  ]);
  const mapping = JSON.parse(/with (\{.*\}), after/.exec(warnings[0]!)![1]!) as Record<string, unknown>;
  expect((await openExport(path, { mapping })).columns).toMatchObject({
    fields: {
      contact_id: [0],
      email: [3],
      first_name: [1],
      last_name: [2],
      organization_name: [4],
      domain: [5],
    },
    warnings: [],
  });
});
