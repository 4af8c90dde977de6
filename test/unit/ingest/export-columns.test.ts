import { describe, expect, it } from 'vitest';
import type { Problem } from '../../../src/domain/problem.ts';
import { mapColumns } from '../../../src/ingest/columns/column-map.ts';
import { recordedMapping, recordedNames } from '../../../src/ingest/columns/fields.ts';
import { checkedMapping } from '../../../src/ingest/columns/mapping-file.ts';
import { recogniseExport } from '../../../src/ingest/columns/recognise-export.ts';
import cases from '../../data/ingest/export-columns.json' with { type: 'json' };

/** What is taken from a header: field → columns in order of preference. */
function taken(
  header: string[],
  mapping?: Record<string, unknown>,
  source?: string,
): Record<string, string[]> {
  const map = mapColumns(
    'contacts.csv',
    { header, recognised: true, rows: [] },
    { mapping: mapping && checkedMapping(mapping), source },
  );
  const fields = Object.entries({
    ...map.fields,
    opted_out: map.optOuts.map((o) => o.column),
  });
  return Object.fromEntries(
    fields
      .filter(([, list]) => list.length > 0)
      .map(([field, list]) => [field, list.map((at) => header[at]!)]),
  );
}

function refusal(work: () => unknown): Problem {
  try {
    work();
  } catch (error) {
    return error as Problem;
  }
  throw new Error('nothing was refused');
}

describe('short names', () => {
  it.each(cases.firstAndLast as [string[], object][])(
    'the columns First and Last are names, and come behind longer headers: %j',
    (header, names) => {
      expect(taken(header)).toEqual({ ...names, email: ['Email'] });
    },
  );

  it('names with digits are names', () => {
    const rows = [['Mira', 'Berg1', 'mira@orbit.example']];
    const layout = { header: ['first_name', 'last_name', 'email'], recognised: true, rows };
    expect(mapColumns('contacts.csv', layout, {}).fields.last_name).toEqual([1]);
  });

  it('a column Last with dates has no names', () => {
    const rows = [['Mira', '2026-11-02', 'mira@orbit.example']];
    const layout = { header: ['First', 'Last', 'Email'], recognised: true, rows };
    expect(mapColumns('contacts.csv', layout, {}).fields).toMatchObject({ first_name: [0], last_name: [] });
  });
});

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

describe('columns are taken', () => {
  it('columns are taken in a fixed order: work before other addresses, company_name before company', () => {
    expect(
      taken([
        'id',
        'company',
        'email_other',
        'email_home',
        'company_name',
        'email_work',
        'linkedin_url',
        'title',
      ]),
    ).toEqual({
      contact_id: ['id'],
      organization_name: ['company_name', 'company'],
      email: ['email_work', 'email_home', 'email_other'],
      profile_url: ['linkedin_url'],
    });
  });

  it('the service’s own export is read without its contact id as the person’s id', () => {
    expect(
      taken(['Company', 'Company Name', 'Company Name for Emails', 'Email', 'Apollo Contact Id', 'Stage']),
    ).toEqual({
      contact_id: ['Apollo Contact Id'],
      organization_name: ['Company Name', 'Company', 'Company Name for Emails'],
      email: ['Email'],
      opted_out: ['Stage'],
    });
  });

  it('columns of an export of Zoho are taken without the twins of look-ups', () => {
    expect(taken(['Record Id', 'Contact Owner.id', 'Account Name.id', 'Account Name', 'Email'])).toEqual({
      contact_id: ['Record Id'],
      organization_name: ['Account Name'],
      email: ['Email'],
    });
  });

  it('a column called URL is a profile URL only in the export of connections', () => {
    expect(taken(['First Name', 'Last Name', 'URL', 'Company', 'Position', 'Connected On'])).toHaveProperty(
      'profile_url',
      ['URL'],
    );
    expect(taken(['Name', 'URL', 'Company'])).not.toHaveProperty('profile_url');
  });

  it('columns are taken despite characters in the header that confuse programs', () => {
    const header = ['__proto__', "'; drop table runs; --", 'x'.repeat(300), '', '', 'Email', 'Email'];
    const given = { mapping: { columns: { email: [6, 7] } } };
    const map = mapColumns('contacts.csv', { header, recognised: true, rows: [] }, given);
    expect(JSON.stringify(recordedMapping(header, map))).toBe('{"Email":"email","Email (column 7)":"email"}');
    expect(recordedNames(header).slice(0, 5)).toEqual([
      '__proto__',
      "'; drop table runs; --",
      'x'.repeat(300),
      '(column 4)',
      '(column 5)',
    ]);
  });

  it('a row can hold a column called __proto__', () => {
    const header = ['__proto__'];
    const map = mapColumns(
      'c.csv',
      { header, recognised: true, rows: [] },
      { mapping: { columns: { email: 1 } } },
    );
    expect(JSON.stringify(recordedMapping(header, map))).toBe('{"__proto__":"email"}');
  });

  it.each([
    [
      undefined,
      [expect.stringMatching(/not used.*: "E-Mail Anschrift \(geschäftl\.\)" \(email\);.*--mapping/)],
    ],
    [{ ignore: [2] }, []],
    [{ columns: { email: 2 } }, []],
  ])('a file whose only addresses are in an unused column has a warning: mapping %j', (mapping, warnings) => {
    const header = ['Contact Owner Email', 'E-Mail Anschrift (geschäftl.)', 'Vorname', 'Nachname', 'Firma'];
    const rows = [['me@acme.example', 'a@orbit.example', 'Ada', 'Berg', 'Orbit']];
    const map = mapColumns('c.csv', { header, recognised: true, rows }, { mapping });
    expect(map.warnings).toEqual(warnings);
  });

  it.each([
    [['Company Name', 'Website', 'Email'], ['column "Email" has 2 cells in the first 3 rows']],
    [['Last Name', 'First Name', 'Email'], []],
    [['Company Name', 'LinkedIn URL', 'Email'], []],
  ])('shared addresses have a warning if no column says who the people are: %j', (header, warnings) => {
    const rows = [
      ['Orbit', 'orbit.example', 'info@orbit.example'],
      ['Acme', 'acme.example', 'sales@acme.example; office@acme.example'],
      ['Berg', 'berg.example', 'info@berg.example, ada@berg.example'],
    ];
    const map = mapColumns('c.csv', { header, recognised: true, rows }, {});
    expect(map.warnings).toEqual(warnings.map((warning) => expect.stringContaining(warning)));
  });

  it('names whose letters a program has lost have a warning with their number', () => {
    const header = ['First Name', 'Last Name', 'Company'];
    const rows = [
      ['J?rgen', 'MÃ¼ller', 'S?hne'],
      ['Ada', 'M?ller', 'S?hne'],
    ];
    const warning = (name: string, cells: string): unknown =>
      expect.stringContaining(
        `column "${name}" has ${cells} in the first 2 rows with letters that a program has lost`,
      );
    expect(mapColumns('c.csv', { header, recognised: true, rows }, {}).warnings).toEqual([
      warning('First Name', '1 cell'),
      warning('Last Name', '2 cells'),
    ]);
  });

  it.each(['id', 'Name', 'Company'])(
    'a column %s of addresses is proposed for addresses and not used',
    (name) => {
      const header = [name, 'Vorname', 'Nachname', 'Firma'];
      const rows = [
        ['ada@orbit.example', 'Ada', 'Berg', 'Orbit'],
        ['bo@orbit.example', 'Bo', 'Adler', 'Orbit'],
        ['', 'Cleo', 'Quist', 'Orbit'],
      ];
      const map = mapColumns('c.csv', { header, recognised: true, rows }, {});
      expect(map.fields).toMatchObject({ contact_id: [], name: [], organization_name: [3] });
      expect(map.warnings).toEqual([expect.stringContaining(`"${name}" (email)`)]);
    },
  );

  it('a column of names is used although most cells are addresses, also if a mapping file names the column', () => {
    const rows = [
      ['', 'ada@orbit.example', 'ada@orbit.example'],
      ['', 'bo@orbit.example', 'bo@orbit.example'],
      ['Di', 'Berg', ''],
    ];
    const layout = { header: ['First Name', 'Last Name', 'Email'], recognised: true, rows };
    for (const mapping of [
      undefined,
      checkedMapping({ columns: { last_name: 'Last Name', email: 'Email' } }),
    ])
      expect(mapColumns('c.csv', layout, { mapping }).fields.last_name).toEqual([1]);
  });

  describe('an unused column of record ids', () => {
    const header = ['E-Mail', 'Customer No'];
    const rows = [
      ['a@orbit.example', 'C-17'],
      ['b@orbit.example', 'C-18'],
    ];
    const warnings = (names: readonly string[], options: Parameters<typeof mapColumns>[2] = {}) =>
      mapColumns('c.csv', { header: names, recognised: true, rows }, options).warnings;

    it('an unused column of record ids has a warning with the mapping that uses it', () => {
      expect(warnings(header)).toEqual([
        expect.stringMatching(/"Customer No" \(contact_id\);.*--mapping FILE with.*before the first run/),
      ]);
    });

    it.each([{ ignore: [2] }, { columns: { contact_id: 2 } }])(
      'a column of record ids has no warning if the mapping decides about it: %j',
      (mapping) => {
        expect(warnings(header, { mapping })).toEqual([]);
      },
    );

    it.each(['Phone number', 'Zip code', 'Company ID', 'VAT no', 'Owner ID', 'Title'])(
      'a column %s is not taken for record ids',
      (name) => {
        expect(warnings(['E-Mail', name])).toEqual([]);
      },
    );

    it('an export of a known CRM has no warning of record ids', () => {
      expect(warnings(header, { source: 'hubspot' })).toEqual([]);
    });
  });

  it.each([
    [['5.01234E+17', '5.01235E+17']],
    [['1,004E+11', '']],
    [['501234567890123000', '501234567890124000', '501234567890456000']],
  ])('record ids that a spreadsheet program has shortened are refused: %j', (ids) => {
    const header = ['Record Id', 'Email', 'Modified Time'];
    const rows = ids.map((id) => [id, 'a@orbit.example', '']);
    const layout = { header, recognised: true, rows };
    const problem = refusal(() => mapColumns('c.csv', layout, {}));
    expect(problem).toMatchObject({
      type: 'export.shortened-ids',
      where: 'c.csv, column 1, by its first rows',
    });
    expect(problem.message).toContain(
      'column "Record Id" has numbers that a spreadsheet program has shortened',
    );
    expect(problem.next).toContain('{"ignore": [1]}');
    const ignored = mapColumns('c.csv', layout, { mapping: checkedMapping({ ignore: [1] }) });
    expect(ignored.fields.contact_id).toEqual([]);
  });

  it('ids that end in zeros are whole if a mapping file names their column', () => {
    const rows = ['501234567890123000', '501234567890124000', '501234567890456000'].map((id) => [
      id,
      `${id}@x.example`,
    ]);
    const layout = { header: ['id', 'Email'], recognised: true, rows };
    const mapping = checkedMapping({ columns: { contact_id: 'id' } });
    expect(mapColumns('c.csv', layout, { mapping }).fields.contact_id).toEqual([0]);
  });

  it.each([[['501234567890123000', '501234567890124001', '501234567890456002']], [['1E7', 'E+17', '1200']]])(
    'whole record ids are accepted: %j',
    (ids) => {
      const rows = ids.map((id) => [id, 'a@orbit.example']);
      const layout = { header: ['id', 'Email'], recognised: true, rows };
      expect(mapColumns('c.csv', layout, {}).warnings).toEqual([]);
    },
  );

  it('cells with an address that is not read have a warning, and placeholders have none', () => {
    const cells = ['ask bob@x.example', 'c@x_y.example', 'noreply@x.example', 'none', 'b@x.example (work)'];
    const layout = {
      header: ['id', 'Email'],
      recognised: true,
      rows: cells.map((cell, at) => [`${at}`, cell]),
    };
    expect(mapColumns('c.csv', layout, {}).warnings).toEqual([
      'column "Email" has 2 cells in the first 5 rows with an address that cannot be read, such as one beside ' +
        'other text: correct the cells, because no call asks by these addresses',
    ]);
  });

  describe('an export of HubSpot', () => {
    const header = ['Record ID', 'First Name', 'Last Name', 'Email', 'Phone Number'];
    const rows = [['4701', 'Ada', 'Stein', 'ada@x.example', '+49 30 1']];
    const warnings = (given: Parameters<typeof mapColumns>[2]): readonly string[] =>
      mapColumns('c.csv', { header, recognised: true, rows }, given).warnings;

    it('an export of a known CRM has a warning if another known CRM is named as its source', () => {
      const warning =
        'the source is named "salesforce", but the file is recognised as an export of hubspot: its record ids are ' +
        'filed under "salesforce", and can name other people there; without source or --source the file is read as ' +
        'hubspot';
      expect(warnings({ source: 'salesforce' })).toEqual([warning]);
      expect(warnings({ mapping: { source: 'salesforce' } })).toEqual([warning]);
      expect(warnings({ source: 'hubspot' })).toEqual([]);
      expect(warnings({ source: 'our-portal' })).toEqual([]);
    });

    it('an export of a known CRM has a warning if a mapping file names another column as contact_id', () => {
      const columns = { contact_id: 'Phone Number' };
      expect(warnings({ mapping: { columns } })).toEqual([
        'column "Record ID" has the record ids of hubspot, and the mapping file names another column as contact_id: ' +
          'files for the importer leave such contacts out; if this is intended, name the column under ignore',
      ]);
      expect(warnings({ mapping: { columns, ignore: 'Record ID' } })).toEqual([]);
    });
  });

  it('a file in which two columns with one name could fill a field is refused', () => {
    const problem = refusal(() => taken(['Email', 'Company Name', 'company_name']));
    expect(problem.type).toBe('mapping.ambiguous');
    expect(problem.next).toContain('"organization_name": 2');
    expect(problem.next).not.toContain('[');
  });

  it('a file with two email columns of one name is refused with a mapping of one column and a mapping of both', () => {
    const { message, next } = refusal(() => taken(['Email', 'First Name', 'Email']));
    expect(message).toBe('columns 1 and 3 have the same name, "Email"');
    expect(next).toContain('{"columns": {"email": 1}}');
    expect(next).toContain('{"columns": {"email": [1, 3]}}');
  });
});

it('a mapping file that names one column for two fields is refused', () => {
  const columns = { contact_id: 1, person_id: 'Nr' };
  const problem = refusal(() => taken(['Nr', 'Email'], { columns }));
  expect(problem.type).toBe('mapping.column-named-twice');
  expect(problem.message).toBe('column "Nr" stands for two fields');
});

it('a mapping file may name one column twice for one field', () => {
  expect(taken(['Mail'], { columns: { email: ['Mail', 1] } })).toEqual({ email: ['Mail'] });
});

it('a mapping file overrides the columns that it names, and the others are recognised', () => {
  expect(
    taken(['id', 'Nr', 'email', 'Mail', 'Sparte'], { columns: { contact_id: 'Nr', email: ['Mail'] } }),
  ).toEqual({
    contact_id: ['Nr'],
    email: ['Mail'],
  });
});

it('a mapping file can name a column by its number', () => {
  expect(
    taken(['Company Name', 'Company Name', 'Email'], { columns: { organization_name: 2 } }),
  ).toMatchObject({
    email: ['Email'],
  });
});

it('the error of a mapping file names the nearest column if a column does not exist', () => {
  const problem = refusal(() => taken(['E-mail adress', 'Name'], { columns: { email: 'E-mail address' } }));
  expect(problem.type).toBe('mapping.unknown-column');
  expect(problem.next).toBe('did you mean "E-mail adress"?');
});

it('the error of a mapping file names the command that lists the columns if no column has a similar name', () => {
  const problem = refusal(() => taken(['Mail', 'Name'], { columns: { email: 'Kontakt9' } }));
  expect(problem.next).toContain('enrich plan FILE without --mapping lists');
});

it('the error of a mapping file says which part is wrong', () => {
  const problem = refusal(() => checkedMapping({ columns: { emial: 'Mail' } }));
  expect(problem.type).toBe('mapping.invalid');
  expect(problem.where).toBe('mapping file, columns');
  expect(problem.message).toContain('emial');
  expect(problem.next).toBe('did you mean "email"?');
});

it.each([
  [{ email: null }, 'columns.email', 'must be the name or number of a column'],
  [{ email: [2, null] }, 'columns.email', 'must be the name or number of a column'],
  [{ email: 0 }, 'columns.email', 'columns are numbered from 1'],
  [{ opted_out: { column: 'Status', value: ['left'] } }, 'columns.opted_out', '"values": ["left"]'],
])('the error of a mapping file says what a field can have: %j', (columns, place, what) => {
  const problem = refusal(() => checkedMapping({ columns }));
  expect(problem.where).toBe(`mapping file, ${place}`);
  expect(problem.message).toContain(what);
});

it('the error of a mapping file lists the possible keys if no key has a similar name', () => {
  const problem = refusal(() => checkedMapping({ zzzzzzzz: 'Mail' }));
  expect(problem.where).toBe('mapping file');
  expect(problem.next).toBe(
    'possible keys: source, encoding, delimiter, quotes, short_rows, columns, ignore',
  );
});

it('a mapping file cannot ignore a column of opt-outs', () => {
  expect(refusal(() => taken(['Email', 'Email Opt Out'], { ignore: ['Email Opt Out'] })).type).toBe(
    'mapping.opt-out-ignored',
  );
});

it('a header without a column that identifies people is refused', () => {
  expect(refusal(() => taken(['Deal', 'Amount'])).type).toBe('export.no-identifying-column');
});

it('a header with only a name is refused', () => {
  expect(refusal(() => taken(['First Name', 'Last Name', 'Phone'])).type).toBe(
    'export.no-identifying-column',
  );
});

describe('headers of other languages and tools are understood', () => {
  it.each(cases.languages as [string, string[]][])(
    'headers of another language or tool are recognised: %s',
    (_, header) => {
      expect(taken(header)).toEqual({
        first_name: [header[0]],
        last_name: [header[1]],
        email: [header[2]],
        organization_name: [header[3]],
      });
    },
  );

  it.each(cases.wholeNames)('a column %s without last names has whole names', (name, company) => {
    expect(taken([name, company])).toEqual({ name: [name], organization_name: [company] });
  });

  it.each([
    ['hubspot', 'レコードID,姓,名,Eメール', '4001'],
    ['hubspot', '레코드 ID,성,이름,이메일', '4001'],
    ['salesforce', '取引先責任者 ID,姓,名,メール,取引先名', '0035e00000AbCdE'],
  ])('an export of %s is recognised in Japanese and Korean: %s', (source, header, id) => {
    expect(recogniseExport({ header: header.split(','), rows: [[id, '', '', '', '']] })?.source).toBe(source);
  });

  it('names of another script are in a warning if no column is known to say who has opted out', () => {
    const warnings = (header: string[]) =>
      mapColumns('c.csv', { header, recognised: true, rows: [] }, { mapping: { ignore: ['備考'] } }).warnings;
    const header = ['id', 'Email', '電話番号', 'Улица', '備考'];
    expect(warnings(header)).toEqual([
      expect.stringMatching(/who has opted out.*not understood: Улица; if .*\{"opted_out": "NAME"\}/),
    ]);
    expect(warnings([...header, 'メール配信停止'])).toEqual([]);
    expect(warnings(['id', 'Email', '電話番号', '備考'])).toEqual([]);
  });

  it('headers of Outlook’s further addresses, custom profile fields and Fivetran’s deleted rows are read', () => {
    for (const name of ['LinkedIn__c', 'LinkedIn_Profile__c', 'linked_in_c'])
      expect(taken(['Email', name])).toMatchObject({ profile_url: [name] });
    expect(taken(['E-mail Address', 'E-mail 2 Address', 'linked_in_url_c', '_fivetran_deleted'])).toEqual({
      email: ['E-mail Address', 'E-mail 2 Address'],
      profile_url: ['linked_in_url_c'],
      opted_out: ['_fivetran_deleted'],
    });
  });

  it.each(cases.furtherAddresses)(
    'headers of further addresses in other languages are read: %s, %s',
    (first, second) => {
      expect(taken([first, second, 'Nombre de Cuenta'])).toEqual({
        email: [first, second],
        organization_name: ['Nombre de Cuenta'],
      });
    },
  );

  it.each(cases.handwritten)(
    'headers that people write by hand are read: %s, %s, %s, %s',
    (first, last, email, company) => {
      expect(taken([first, last, email, company])).toEqual({
        first_name: [first],
        last_name: [last],
        email: [email],
        organization_name: [company],
      });
    },
  );

  it.each(cases.contactIds)(
    'a column %s has the ids of contacts, and Salesforce is recognised by them',
    (id, first, last) => {
      const header = [id, first, last, 'E-mail'];
      expect(taken(header)).toMatchObject({ contact_id: [id], first_name: [first], last_name: [last] });
      const rows = [['0035e00000AbCdE', '', '', '']];
      expect(recogniseExport({ header, rows })?.source).toBe('salesforce');
    },
  );

  it('the names of domains of companies come before the addresses of websites', () => {
    const header = ['Email', 'URL del sitio web', 'Nombre de dominio de la empresa'];
    expect(taken(header)).toMatchObject({ domain: [header[2], header[1]] });
  });

  it.each([
    ['has last names', 'Groß', { first_name: [0], last_name: [1], name: [] }],
    ['has whole names', 'Groß, Jürgen', { first_name: [0], last_name: [], name: [1] }],
  ])('a column Name beside first names %s, as its cells show', (_, cell, expected) => {
    const rows = [
      ['Jürgen', cell, 'Müller AG'],
      ['', 'Meyer', 'Drei KG'],
    ];
    const header = ['Vorname', 'Name', 'Firma'];
    expect(mapColumns('contacts.csv', { header, recognised: true, rows }, {}).fields).toMatchObject(expected);
  });
});

describe('columns without values of their field', () => {
  const map = (header: string[], rows: string[][]) =>
    mapColumns('c.csv', { header, recognised: true, rows }, {});

  it('a column of ids without a value is not used, and another column of ids is', () => {
    const rows = [['', '17', 'ada@orbit.example']];
    expect(map(['External ID', 'ID', 'Email'], rows).fields.contact_id).toEqual([1]);
    expect(map(['External ID', 'Customer', 'Email'], rows).fields.contact_id).toEqual([]);
  });

  it('of two columns with one name, the one with values is used', () => {
    expect(map(['Email', 'Email'], [['', 'ada@orbit.example']]).fields.email).toEqual([1]);
  });

  it('a column for e-mails that has none is noted', () => {
    const { warnings } = map(
      ['Email', 'First Name', 'Last Name', 'Company'],
      [['n/a', 'Ada', 'Berg', 'Orbit']],
    );
    expect(warnings).toEqual([
      expect.stringMatching(/^no cell of the first 1 row is an e-mail address .* \(Email\):.*--mapping FILE/),
    ]);
  });

  it('a second person of the rows is noted', () => {
    const header = [
      'Contact1 First Name',
      'Contact1 Last Name',
      'Contact1 Personal Email',
      'Contact2 First Name',
    ];
    expect(map(header, [['Ada', 'Berg', 'ada@orbit.example', 'Bo']]).warnings).toEqual([
      expect.stringContaining('a second person, who is not enriched (Contact2 First Name)'),
    ]);
  });
});
