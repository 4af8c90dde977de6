import { expect, it } from 'vitest';
import { readDataRecords } from '../../../src/ingest/reading/data-records.ts';
import { openExport } from '../../../src/ingest/reading/open-export.ts';
import { recordedMapping } from '../../../src/ingest/columns/fields.ts';
import { createRowReader, type StagedRow } from '../../../src/ingest/columns/read-row.ts';
import { exportFiles } from '../../helpers/exports/export-file.ts';
import cases from '../../data/ingest/crm-exports.json' with { type: 'json' };

const file = exportFiles();

interface ReadExport {
  readonly source: string;
  readonly mapping: Readonly<Record<string, string>>;
  readonly rows: readonly StagedRow[];
}

/** Reads an export in the way staging reads it. */
async function read(content: string, name?: string): Promise<ReadExport> {
  const opened = await openExport(file(content, name), {});
  const readRow = createRowReader(opened.columns);
  const rows: StagedRow[] = [];
  for await (const records of readDataRecords(opened, () => {}))
    for (const { cells, fault } of records) rows.push(readRow(cells, rows.length + 1, fault));
  const mapping = recordedMapping(opened.layout.header, opened.columns);
  return { source: opened.columns.source, mapping, rows };
}

it.each(cases.exports)(
  'an export of $export is recognised as the source $source, and its rows are counted by outcome',
  async (example) => {
    const { source, rows } = await read(`${example.lines.join('\n')}\n`);
    expect(source).toBe(example.source);
    expect(rows).toHaveLength(example.rows);
    expect(rows.filter((row) => row.optedOut)).toHaveLength(example.optedOut);
    expect(rows.filter((row) => row.outcome === 'no_identifier')).toHaveLength(example.noIdentifier);
    expect(rows.filter((row) => row.outcome === 'malformed')).toHaveLength(0);
    const { contactId, identity } = rows[0]!;
    expect({
      contactId: contactId?.startsWith('key:') ? 'key:' : contactId,
      email: identity.email ?? null,
      company: identity.organizationName,
    }).toEqual(example.first);
  },
);

it.each(cases.pipedriveColumns as [string, string, string, string, string, string[]][])(
  'every e-mail column of a Pipedrive export in %s is read',
  async (_, person, name, company, mail, kinds) => {
    const header = ['ID', name, company, ...kinds.map((kind) => `${mail} - ${kind}`)];
    const { source, mapping, rows } = await read(
      `${header.map((column) => `${person} - ${column}`).join(',')}\n12,Ute Kranz,Nordlicht,,ute@gmx.example,\n`,
    );
    expect(source).toBe('pipedrive');
    expect(Object.values(mapping)).toEqual([
      'contact_id',
      'name',
      'organization_name',
      'email',
      'email',
      'email',
    ]);
    expect(rows[0]!.identity).toMatchObject({ email: 'ute@gmx.example', organizationName: 'Nordlicht' });
  },
);

it.each([
  ['Salesforce report, English, with its footer', [true, false]],
  ['Salesforce report, French', [true]],
  ['Dynamics 365, German', [true, false]],
])('opt-outs of phone calls are read from an export: %s', async (name, optedOut) => {
  const { lines } = cases.exports.find((each) => each.export === name)!;
  const { rows } = await read(`${lines.join('\n')}\n`);
  expect(rows.map((row) => row.optedOutOfCalls)).toEqual(optedOut);
});

it('a file written by enrich export is refused, with a query for the same contacts', async () => {
  const own = 'source,contact_id,first_name,last_name,email,email_status,organization_domain,run_id';
  await expect(
    read(`${own}\nzoho,88001,Siri,Holm,siri@fjell.example,verified,,run-1\n`),
  ).rejects.toMatchObject({
    type: 'export.own-file',
    next: expect.stringContaining('--source NAME --query'),
  });
});

it('a full name with the last name first gives the same key as first and last name in two columns', async () => {
  const whole = await read('Person - Name,Person - ID,Person - Organization\n"Novak, Ada Maria",1,Orbit\n');
  const parts = await read('First Name,Last Name,Company\nAda Maria,Novak,Orbit\n');
  expect(whole.rows[0]!.identity.name).toBe('Ada Maria Novak');
  expect(whole.rows[0]!.keys).toEqual(parts.rows[0]!.keys);
});

it.each(['-', 'N/A', 'null', '#N/A', '(blank)'])(
  'a cell with the placeholder %s is not read as the id of a contact or a person',
  async (cell) => {
    const { rows } = await read(`Contact ID,Apollo Id,Email\n${cell},${cell},a@orbit.example\n`);
    expect(rows[0]!.contactId).toMatch(/^key:/);
    expect(rows[0]!.identity).toEqual({ email: 'a@orbit.example' });
  },
);

it.each([
  ['hubspot', 'Record ID', '"=""4001"""', '4001'],
  ['hubspot', 'Record ID', '4001.0', '4001'],
  ['hubspot', 'Record ID', ' 4001 ', '4001'],
  ['salesforce', 'Contact ID', '003A0000006Vm9r', '003A0000006Vm9rIAC'],
  ['salesforce', 'Contact ID', '003A0000006Vm9rIAC', '003A0000006Vm9rIAC'],
])('a record id of %s is read as the CRM writes it: %s %s', async (source, column, cell, id) => {
  const header = `${column},First Name,Last Name,Email,Account Name`;
  const found = await read(`${header}\n${cell},Ada,Novak,ada@orbit.example,Orbit\n`);
  expect({ source: found.source, id: found.rows[0]!.contactId }).toEqual({ source, id });
});

it('an id of a person may be any text without spaces', async () => {
  const packed = 'eyJpZCI6'.repeat(60);
  const { rows } = await read(
    `Email,Apollo Id\na@orbit.example,dGVzdA==/+~\nb@orbit.example,two words\nc@orbit.example,${packed}\n`,
  );
  expect(rows.map(({ identity }) => identity.personId)).toEqual(['dGVzdA==/+~', undefined, packed]);
});

it.each(cases.otherObjects)(
  'an export of %s in place of contacts is refused, and the error names them: %s',
  async (object, header) => {
    await expect(read(`${header}\n`)).rejects.toMatchObject({
      type: 'export.other-object',
      message: expect.stringContaining(`export of ${object}`),
      exitCode: 2,
    });
  },
);

it.each([
  'Name,Company,Industry,Number of employees',
  'First Name,Last Name,Email,Opportunity Name,Stage,Amount',
  'Name,Job Title,Website,Industry,Annual Revenue',
  'Name,Company,Close Date',
])('an export of contacts is accepted although it has columns of companies: %s', async (header) => {
  await expect(read(`${header}\n`)).resolves.toMatchObject({ rows: [] });
});
