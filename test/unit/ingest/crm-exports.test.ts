import { describe, expect, it } from 'vitest';
import { readDataRecords } from '../../../src/ingest/reading/data-records.ts';
import { openExport } from '../../../src/ingest/reading/open-export.ts';
import { recordedMapping } from '../../../src/ingest/columns/fields.ts';
import { createRowReader, type StagedRow } from '../../../src/ingest/columns/read-row.ts';
import { exportFiles } from '../../helpers/exports/export-file.ts';

const file = exportFiles();

interface ReadExport {
  readonly source: string;
  readonly mapping: Readonly<Record<string, string>>;
  readonly rows: readonly StagedRow[];
}

/** Reads an export as staging does. */
async function read(content: string, name?: string): Promise<ReadExport> {
  const opened = await openExport(file(content, name), {});
  const readRow = createRowReader(opened.columns);
  const rows: StagedRow[] = [];
  for await (const records of readDataRecords(opened, () => {}))
    for (const { cells, fault } of records) rows.push(readRow(cells, rows.length + 1, fault));
  const mapping = recordedMapping(opened.layout.header, opened.columns);
  return { source: opened.columns.source, mapping, rows };
}

interface Case {
  readonly export: string;
  readonly source: string;
  readonly lines: readonly string[];
  /** Of the first row. */
  readonly first: {
    readonly contactId: string;
    readonly email: string | undefined;
    readonly company: string | undefined;
  };
  /** Rows by what becomes of them; the rest are people who can be asked for. */
  readonly rows: number;
  readonly optedOut: number;
  readonly noIdentifier: number;
}

const cases: readonly Case[] = [
  {
    export: 'HubSpot, English',
    source: 'hubspot',
    lines: [
      'Record ID,First Name,Last Name,Email,Phone Number,Contact owner,Associated Company,Unsubscribed from ' +
        'all email,Fax opt-out',
      '401,Mira,Solberg,mira@nordlys.example,,Ola Dahl,Nordlys,,true',
      '402,Jon,Berg,jon@nordlys.example,,Ola Dahl,Nordlys,true,',
      '403,,,,+47 555 01 03,Ola Dahl,,,',
    ],
    first: { contactId: '401', email: 'mira@nordlys.example', company: 'Nordlys' },
    rows: 3,
    optedOut: 1,
    noIdentifier: 1,
  },
  {
    export: 'HubSpot, German',
    source: 'hubspot',
    lines: [
      'Datensatz-ID;Vorname;Nachname;E-Mail-Adresse;Unternehmensname;Von allen E-Mails abgemeldet',
      '501;Jörg;Müller;joerg@weber.example;Weber GmbH;',
      '502;Anna;Weiß;anna@weber.example;Weber GmbH;Ja',
    ],
    first: { contactId: '501', email: 'joerg@weber.example', company: 'Weber GmbH' },
    rows: 2,
    optedOut: 1,
    noIdentifier: 0,
  },
  {
    export: 'Salesforce report of a custom type, whose names have the object before them',
    source: 'salesforce',
    lines: [
      'Contact: Contact ID,Contact: Full Name,Contact: Email,Account: Account Name,Contact: Email Opt Out',
      '0035e00000AbCdE,Ada Novak,ada@orbit.example,Orbit,0',
      '0035e00000AbCdF,Eve Ek,,Orbit,1',
      '0035e00000AbCdG,Jon Lund,,Acme,0',
    ],
    first: { contactId: '0035e00000AbCdEAAV', email: 'ada@orbit.example', company: 'Orbit' },
    rows: 3,
    optedOut: 1,
    noIdentifier: 0,
  },
  {
    export: 'Salesforce report, English, with its footer',
    source: 'salesforce',
    lines: [
      '"First Name","Last Name","Account Name","Mailing City","Email","Contact ID","Email Opt Out","Do Not Call"',
      '"Ada","Novak","Orbit","Praha","ada@orbit.example","0035e00000AbCdE","0","1"',
      '"Eve","Ek","Orbit","Praha","eve@orbit.example","0035e00000AbCdF","1","0"',
      '',
      '"Grand Totals (2 records)"',
      '"Confidential Information - Do Not Distribute"',
    ],
    first: { contactId: '0035e00000AbCdEAAV', email: 'ada@orbit.example', company: 'Orbit' },
    rows: 2,
    optedOut: 1,
    noIdentifier: 0,
  },
  {
    export: 'Salesforce report, French',
    source: 'salesforce',
    lines: [
      'Prénom;Nom;Nom du compte;Propriétaire du compte;E-mail;ID du contact;Ne pas appeler',
      'Zoé;Lefèvre;Boréal SARL;Luc Roy;zoe@boreal.example;0035e00000AbCdG;1',
    ],
    first: { contactId: '0035e00000AbCdGAAV', email: 'zoe@boreal.example', company: 'Boréal SARL' },
    rows: 1,
    optedOut: 0,
    noIdentifier: 0,
  },
  {
    export: 'Pipedrive, English',
    source: 'pipedrive',
    lines: [
      'Person - ID,Person - Name,Person - Organization,Person - Email - Work,Person - Phone - Work,Person - ' +
        'Marketing status',
      '7,Ines Costa,Maré,ines@mare.example,,subscribed',
      '8,Rui Alves,Maré,rui@mare.example,,unsubscribed',
      '9,Ana,,,,',
    ],
    first: { contactId: '7', email: 'ines@mare.example', company: 'Maré' },
    rows: 3,
    optedOut: 1,
    noIdentifier: 1,
  },
  {
    export: 'Zoho',
    source: 'zoho',
    lines: [
      'Record Id,Contact Owner.id,Contact Owner,First Name,Last Name,Account Name.id,Account ' +
        'Name,Email,Email Opt Out,Unsubscribed Time',
      'zcrm_88001,zcrm_1,Ola Dahl,Siri,Holm,zcrm_5,Fjell AS,siri@fjell.example,false,',
      'zcrm_88002,zcrm_1,Ola Dahl,Per,Lund,zcrm_5,Fjell AS,per@fjell.example,true,2026-03-01 10:00:00',
    ],
    first: { contactId: '88001', email: 'siri@fjell.example', company: 'Fjell AS' },
    rows: 2,
    optedOut: 1,
    noIdentifier: 0,
  },
  {
    export: 'Dynamics 365, German',
    source: 'dynamics365',
    lines: [
      '(Nicht ändern) Kontakt;(Nicht ändern) Zeilenprüfsumme;(Nicht ändern) Geändert ' +
        'am;Vorname;Nachname;Firmenname;E-Mail;Keine E-Mails zulassen;Keine Telefonanrufe zulassen',
      '6f9619ff-8b86-4011-b42d-00c04fc964ff;x==;22.11.2026;Uwe;Krause;Elbe AG;uwe@elbe.example;Zulassen;Nicht zulassen',
      '6f9619ff-8b86-4011-b42d-00c04fc964f0;x==;22.11.2026;Ida;Vogt;Elbe AG;ida@elbe.example;Nicht zulassen;Zulassen',
    ],
    first: {
      contactId: '6f9619ff-8b86-4011-b42d-00c04fc964ff',
      email: 'uwe@elbe.example',
      company: 'Elbe AG',
    },
    rows: 2,
    optedOut: 1,
    noIdentifier: 0,
  },
  {
    export: 'Dynamics 365, Spanish, without the columns of checksum and time',
    source: 'dynamics365',
    lines: [
      '(No modificar) Contacto,Nombre,Apellidos,Nombre de la compañía,Correo electrónico',
      '6f9619ff-8b86-4011-b42d-00c04fc964fa,Inés,Ruiz,Faro SL,ines@faro.example',
    ],
    first: {
      contactId: '6f9619ff-8b86-4011-b42d-00c04fc964fa',
      email: 'ines@faro.example',
      company: 'Faro SL',
    },
    rows: 1,
    optedOut: 0,
    noIdentifier: 0,
  },
  {
    export: 'export of connections',
    source: 'linkedin_connections',
    lines: [
      'Notes:',
      '"Some addresses are missing, because members choose who sees them."',
      '',
      'First Name,Last Name,URL,Email Address,Company,Position,Connected On',
      'Noor,Visser,https://www.linkedin.com/in/noor-visser-example,,Delta BV,Engineer,03 Mar 2026',
      ',,,,,,',
    ],
    first: { contactId: expect.stringMatching(/^key:/) as string, email: undefined, company: 'Delta BV' },
    rows: 2,
    optedOut: 0,
    noIdentifier: 1,
  },
  {
    export: 'Google Contacts',
    source: 'google_contacts',
    lines: [
      'Name,Given Name,Family Name,E-mail 1 - Value,E-mail 2 - Value,Organization 1 - Name',
      'Tove Lind,Tove,Lind,tove@lind.example ::: t.lind@post.example,,Lind AB',
    ],
    first: {
      contactId: expect.stringMatching(/^key:/) as string,
      email: 'tove@lind.example',
      company: 'Lind AB',
    },
    rows: 1,
    optedOut: 0,
    noIdentifier: 0,
  },
  {
    export: 'the service',
    source: 'service',
    lines: [
      'First Name,Last Name,Title,Company,Company Name for Emails,Email,Stage,Person Linkedin Url,Apollo Contact Id',
      'Kai,Moen,CTO,Brim,Brim,kai@brim.example,Cold,,64f0aa01',
      'Liv,Aas,CFO,Brim,Brim,liv@brim.example,Do Not Contact,,64f0aa02',
    ],
    first: { contactId: '64f0aa01', email: 'kai@brim.example', company: 'Brim' },
    rows: 2,
    optedOut: 1,
    noIdentifier: 0,
  },
];

describe('exports of eight CRMs in three languages', () => {
  it.each(cases)('the $export is recognised as $source, and each row is counted once', async (example) => {
    const { source, rows } = await read(`${example.lines.join('\n')}\n`);
    expect(source).toBe(example.source);
    expect(rows).toHaveLength(example.rows);
    expect(rows.filter((row) => row.optedOut)).toHaveLength(example.optedOut);
    expect(rows.filter((row) => row.outcome === 'no_identifier')).toHaveLength(example.noIdentifier);
    expect(rows.filter((row) => row.outcome === 'malformed')).toHaveLength(0);
    const { contactId, identity } = rows[0]!;
    expect({ contactId, email: identity.email, company: identity.organizationName }).toEqual(example.first);
  });

  it.each([
    ['English', 'Person', 'Name', 'Organization', 'Email', ['Work', 'Home', 'Other']],
    ['German', 'Person', 'Name', 'Organisation', 'E-Mail-Adresse', ['Büro', 'Privat', 'Sonstiger']],
    ['French', 'Personne', 'Nom', 'Organisation', 'E-mail', ['Travail', 'Domicile', 'Autre']],
    ['Portuguese', 'Pessoa', 'Nome', 'Organização', 'E-mail', ['Trabalho', 'Residencial', 'Outros']],
    ['Italian', 'Persona', 'Nome', 'Organizzazione', 'E-mail', ['Lavoro', 'Casa', 'Altro']],
    ['Dutch', 'Persoon', 'Naam', 'Organisatie', 'E-mail', ['Werk', 'Thuis', 'Overig']],
    ['Polish', 'Osoba', 'Imię i nazwisko', 'Organizacja', 'E-mail', ['Praca', 'Dom', 'Inne']],
    ['Swedish', 'Person', 'Namn', 'Organisation', 'E-post', ['Arbete', 'Hem', 'Övrigt']],
  ])(
    'every e-mail column of a %s export of Pipedrive is read',
    async (_, person, name, company, mail, kinds) => {
      const header = ['ID', name, company, ...kinds.map((kind) => `${mail} - ${kind}`)];
      const { source, mapping, rows } = await read(
        `${header.map((column) => `${person} - ${column}`).join(',')}\n12,Ute Kranz,Nordlicht,,ute@gmx.example,\n`,
      );
      expect(source).toBe('pipedrive');
      expect(mapping).toEqual(
        Object.fromEntries(
          ['contact_id', 'name', 'organization_name', 'email', 'email', 'email'].map((field, column) => [
            `${person} - ${header[column]!}`,
            field,
          ]),
        ),
      );
      expect(rows[0]!.identity).toMatchObject({ email: 'ute@gmx.example', organizationName: 'Nordlicht' });
    },
  );

  it.each([
    ['Salesforce report, English, with its footer', [true, false]],
    ['Salesforce report, French', [true]],
    ['Dynamics 365, German', [true, false]],
  ])('opt-outs of calls are read, and suppress no contact by themselves: %s', async (name, optedOut) => {
    const { lines } = cases.find((each) => each.export === name)!;
    const { rows } = await read(`${lines.join('\n')}\n`);
    expect(rows.map((row) => row.optedOutOfCalls)).toEqual(optedOut);
  });
});

describe('a file that enrich export wrote', () => {
  const own = 'source,contact_id,first_name,last_name,email,email_status,organization_domain,run_id';

  it("a file that enrich export wrote is read as the CRM in its column source, with the CRM's ids", async () => {
    const { source, rows } = await read(`${own}\nzoho,88001,Siri,Holm,siri@fjell.example,verified,,run-1\n`);
    expect(source).toBe('zoho');
    expect(rows[0]).toMatchObject({ contactId: '88001', identity: { email: 'siri@fjell.example' } });
  });

  it('a cell that cannot name a source does not become the source of a file', async () => {
    const { source } = await read(`${own}\nada@orbit.example,88001,Siri,Holm,siri@fjell.example,,,r\n`);
    expect(source).toBe('generic');
  });

  it.each([1, 400])(
    'a file that enrich export wrote is refused if row %i is of another source',
    async (rows) => {
      const others = Array.from(
        { length: rows },
        (_, row) => `hubspot,${row},Mira,Solberg,m${row}@a.example,,,r\n`,
      );
      const refused = read(`${own}\n${others.join('')}zoho,1,Siri,Holm,siri@fjell.example,,,r\n`);
      await expect(refused).rejects.toMatchObject({ type: 'export.mixed-sources' });
    },
  );

  it.each([
    ['hubspot', 'Record ID,Email,Job Title\r\n401,mira@nordlys.example,CTO\r\n'],
    ['hubspot', 'Record ID\u200b,Email,Job Title\r\n401,mira@nordlys.example,CTO\r\n'],
    ['salesforce', 'Id,Email,Phone\n0035e00000AbCdE,ada@orbit.example,\n'],
    ['pipedrive', 'Person - Pipedrive System ID,Person - Email (Work)\r\n7,ines@mare.example\r\n'],
    ['zoho', 'Record Id,Email,Mobile\r\n88001,siri@fjell.example,\r\n'],
    [
      'dynamics365',
      '\ufeffContact,Email,Job Title\r\n6f9619ff-8b86-4011-b42d-00c04fc964ff,uwe@elbe.example,CTO\r\n',
    ],
  ])('an import file for %s is read as that CRM', async (crm, content) => {
    const { source, rows } = await read(content);
    expect(source).toBe(crm);
    expect(rows[0]!.contactId).not.toMatch(/^key:/);
    expect(rows[0]!.identity.email).toBeDefined();
  });
});

it('a column of full names with the last name first gives the key of the same name in two columns', async () => {
  const whole = await read('Person - Name,Person - ID,Person - Organization\n"Novak, Ada Maria",1,Orbit\n');
  const parts = await read('First Name,Last Name,Company\nAda Maria,Novak,Orbit\n');
  expect(whole.rows[0]!.identity.name).toBe('Ada Maria Novak');
  expect(whole.rows[0]!.keys).toEqual(parts.rows[0]!.keys);
});

it.each([
  ['Primer apellido', 'García', 'López', 'García López'],
  ['Apellido paterno', '', 'López', 'López'],
  ['Apellidos', 'García López', 'López', 'García López'],
])('the second surname continues the last name: %s "%s" and "%s"', async (column, first, second, last) => {
  const { rows } = await read(`Nombre,${column},Segundo apellido,Empresa\nAna,${first},${second},Orbit\n`);
  expect(rows[0]!.identity).toMatchObject({ firstName: 'Ana', lastName: last });
});

describe('ids of contacts and people', () => {
  it.each(['-', 'N/A', 'null', '#N/A', '(blank)'])('a cell %s is no id', async (cell) => {
    const { rows } = await read(`Contact ID,Apollo Id,Email\n${cell},${cell},a@orbit.example\n`);
    expect(rows[0]).toMatchObject({
      contactId: expect.stringMatching(/^key:/),
      identity: { email: 'a@orbit.example' },
    });
    expect(rows[0]!.identity).not.toHaveProperty('personId');
  });

  it.each(['"=""4001"""', '4001.0', ' 4001 '])(
    'a record id is read as the CRM writes it: %s',
    async (cell) => {
      const { source, rows } = await read(
        `Record ID,First Name,Last Name,Email\n${cell},Ada,Novak,ada@orbit.example\n`,
      );
      expect({ source, id: rows[0]!.contactId }).toEqual({ source: 'hubspot', id: '4001' });
    },
  );

  it('names of a column with last names first are read in the order of names', async () => {
    const { rows } = await read(
      'Name,Email\n"García López, María",maria@orbit.example\n"Novak, Ada",ada@orbit.example\n',
    );
    expect(rows.map(({ identity }) => identity.name)).toEqual(['María García López', 'Ada Novak']);
  });

  it('an id of a person is any text without spaces', async () => {
    const packed = 'eyJpZCI6'.repeat(60);
    const { rows } = await read(
      `Email,Apollo Id\na@orbit.example,dGVzdA==/+~\nb@orbit.example,two words\nc@orbit.example,${packed}\n`,
    );
    expect(rows.map(({ identity }) => identity.personId)).toEqual(['dGVzdA==/+~', undefined, packed]);
  });
});

describe('an export of another object', () => {
  it.each([
    ['companies', 'Record ID,Company name,Company owner,Phone Number,City,Industry'],
    ['companies', 'ID,NAME,WEBSITE,INDUSTRY,BILLINGCITY,NUMBEROFEMPLOYEES'],
    ['companies', 'Organization - Name,Organization - Owner,Organization - Website'],
    ['companies', 'Datensatz-ID;Unternehmensname;Branche;Website'],
    ['deals', 'Record ID,Deal Name,Deal Stage,Close Date,Pipeline,Amount'],
    ['deals', 'Record Id,Deal Name,Account Name,Contact Name,Stage,Amount,Closing Date'],
    ['deals', 'Deal - Title,Deal - Value,Deal - Stage,Organization - Name'],
  ])('an export of another object is refused by its name: %s by %s', async (object, header) => {
    await expect(read(`${header}\n`)).rejects.toMatchObject({
      type: 'export.other-object',
      message: expect.stringContaining(`export of ${object}`),
      exitCode: 2,
    });
  });

  it.each([
    'Name,Company,Industry,Number of employees',
    'First Name,Last Name,Email,Opportunity Name,Stage,Amount',
    'Name,Job Title,Website,Industry,Annual Revenue',
    'Name,Company,Close Date',
  ])('contacts with columns of their company are no export of another object: %s', async (header) => {
    await expect(read(`${header}\n`)).resolves.toMatchObject({ rows: [] });
  });
});
