import { expect, it } from 'vitest';
import { proposeColumns, proposedMapping } from '../../../src/ingest/columns/propose-columns.ts';
import { openExport } from '../../../src/ingest/reading/open-export.ts';
import { exportFiles } from '../../helpers/exports/export-file.ts';
import cases from '../../data/ingest/mapping-proposal.json' with { type: 'json' };

const file = exportFiles();

it('proposeColumns() uses the form of the cells, and the name of a column of ids', () => {
  const header = ['Kundennr', 'Epost', 'Kontakt Vorname', 'Stufe', 'Web', 'Profil', 'E-Mail-Sperre'];
  const profile = 'https://www.linkedin.com/in/jon-berg';
  const rows = [
    ['1', 'mira@nordlys.example', 'Mira', 'lead', 'nordlys.example', '', 'ja'],
    ['2', 'jon@nordlys.example', 'Jon', 'won', 'www.nordlys.example', profile, ''],
  ];
  const fields = ['contact_id', 'email', undefined, undefined, 'domain', 'profile_url', undefined];
  expect(proposeColumns(header, rows)).toEqual(fields);
});

it('proposeColumns() proposes each field for one column, and emails for all that hold addresses', () => {
  const rows = [['a@orbit.example', 'b@orbit.example', 'orbit.example', 'acme.example']];
  expect(proposeColumns(['Main', 'Other', 'Site', 'Old site'], rows)).toEqual([
    'email',
    'email',
    'domain',
    undefined,
  ]);
});

it.each(cases.colleagues)('proposeColumns() never proposes %s, which names a colleague', (name) => {
  const people = ['mira.berg@orbit.example', 'jon.lund@orbit.example', 'eva.roth@orbit.example'];
  for (const cells of [people, ['Mira Berg', 'Jon Lund', 'Eva Roth'], ['u-1', 'u-2', 'u-3']]) {
    const rows = cells.map((cell) => [cell, 'Renewal']);
    expect(proposeColumns([name, 'Deal'], rows)).toEqual([undefined, undefined]);
  }
});

it.each(['Home Email', 'Reply To', 'Ownership Contact'])(
  'proposeColumns() proposes %s, which only resembles the name of an owner',
  (name) => {
    expect(proposeColumns([name], [['mira@orbit.example'], ['jon@orbit.example']])).toEqual(['email']);
  },
);

it.each(cases.contactIds)('proposeColumns() proposes %s as the id of a contact', (name, first, second) => {
  const rows = [
    [first, 'mira@orbit.example'],
    [second, 'jon@orbit.example'],
  ];
  expect(proposeColumns([name, 'Mail'], rows)).toEqual(['contact_id', 'email']);
});

it.each([
  ['Seit', '2026-01-02', '2026-01-03'],
  ['Stufe Nr', 'lead-1', 'lead-1'],
  ['Tel', '+49301234', '+49301235'],
  ['電話番号', '0312345', '0312346'],
  ['Unternehmens-ID', 'c1', 'c2'],
  ['Identifiant entreprise', 'c1', 'c2'],
])('proposeColumns() does not propose %s as the id of a contact', (name, first, second) => {
  expect(proposeColumns([name], [[first], [second]])).not.toContain('contact_id');
});

it.each(cases.implausible)(
  'an implausible mapping file is refused with counts and no cell: %s in column %s',
  async (field, column, what) => {
    const rows = Array.from({ length: 120 }, (_, row) => `${row},Acme,lead,p${row}@acme.example`);
    const email = column === 'Mail' ? [] : 'Mail';
    const mapping = { columns: { email, [field]: column } };
    await expect(
      openExport(file(`Nr,Firma,Phase,Mail\n${rows.join('\n')}\n`), { mapping }),
    ).rejects.toMatchObject({
      type: 'mapping.implausible',
      message: `column "${column}" is no ${field}: ${what}`,
      exitCode: 2,
    });
  },
);

it('proposedMapping() names a column by its number if its name is repeated, missing or like a person', () => {
  const header = ['Mail', '', 'Mail', 'ada@orbit.example', 'Firm', 'Phase'];
  const fields = ['email', 'contact_id', 'email', 'name', 'organization_name', undefined] as const;
  expect(JSON.parse(proposedMapping(header, fields)!)).toEqual({
    columns: { email: [1, 3], contact_id: 2, name: 4, organization_name: 'Firm' },
  });
  expect(proposedMapping(['Phase'], [undefined])).toBeUndefined();
});

it('the warning of a file that is half recognised has a mapping file that reads the columns left out', async () => {
  const path = file(
    'Kd-Nr.;Vorname;Nachname;E-Mail-Anschrift;Firma / Arbeitgeber;Webseite;Bemerkung\n' +
      'K-1;Mira;Berg;mira@orbit.example;Orbit;orbit.example;\nK-2;Jon;Lund;jon@acme.example;Acme;;x\n',
  );
  const { warnings } = (await openExport(path, {})).columns;
  expect(warnings).toEqual([
    expect.stringMatching(/"Kd-Nr." \(contact_id\), "E-Mail.*" \(email\).*before the first run/),
  ]);
  const mapping = JSON.parse(/with (\{.*\}), after/.exec(warnings[0]!)![1]!) as Record<string, unknown>;
  expect((await openExport(path, { mapping })).columns).toMatchObject({
    fields: { contact_id: [0], email: [3], first_name: [1], last_name: [2] },
    warnings: [],
  });
});
