import { describe, expect, it } from 'vitest';
import { spreadsheetLine } from '../../../src/export/crm-import/csv-line.ts';
import { decodeText, type ByteText } from '../../../src/ingest/reading/bytes/byte-text.ts';
import { readDataRecords } from '../../../src/ingest/reading/data-records.ts';
import { openExport } from '../../../src/ingest/reading/open-export.ts';
import { exportFiles } from '../../helpers/exports/export-file.ts';

const file = exportFiles();

async function recordsOf(
  lines: readonly string[],
): Promise<{ read: string[][]; faults: string[]; warnings: string[] }> {
  const opened = await openExport(file([...lines, ''].join('\n')), {});
  const read: string[][] = [];
  const faults: string[] = [];
  const warnings: string[] = [];
  for await (const batch of readDataRecords(opened, (warning) => warnings.push(warning))) {
    for (const [index, record] of batch.records.entries()) {
      const fault = batch.faults.get(index);
      if (fault === undefined) read.push(record);
      else faults.push(fault);
    }
  }
  return { read, faults, warnings };
}

it.each(['-5', '=7', '@9', "'-5", "''＝x", ' =1', "'1", '+47 555 01 03', "'+47 555"])(
  'the id %j of an export for spreadsheets is read as the contact has it',
  async (id) => {
    const header = 'source,contact_id,email,email_status,person_id';
    const { read } = await recordsOf([header, `pipedrive,${spreadsheetLine([id])},ada@orbit.example,,`]);
    expect(decodeText(read[0]![1] as ByteText)).toBe(id);
  },
);

it.each([
  ['with an inch mark in another cell', '"p2@acme.example"," Ann","12"" pipe"'],
  ['with a text that is no address', '"no address"," Ann","Orbit"'],
  ['with an inch mark and a text that is no address', '"no address"," Ann","12"" pipe"'],
  ['without quotes, with an inch mark in a cell in quotes', 'p2@acme.example, Ann,"12"" pipe"'],
])('a row whose quotes enclose whole cells is read if a cell begins with a blank, %s', async (_, row) => {
  const { read, faults } = await recordsOf([
    'email,name,company',
    'p1@acme.example,Bob,Acme',
    row,
    'p3@acme.example,Cy,Acme',
  ]);
  expect(faults).toEqual([]);
  expect(read.map(([, name]) => name)).toEqual(['Bob', ' Ann', 'Cy']);
});

it.each(['p2@acme.example,Orbit, partners"', 'and more, Orbit,Acme'])(
  'the row %s is part of a text with delimiters whose quotes were lost',
  async (row) => {
    const { read, faults } = await recordsOf([
      'email,name,company',
      'p1@acme.example,Bob,Acme',
      row,
      'p3@acme.example,Cy,Acme',
    ]);
    expect(faults).toHaveLength(1);
    expect(read.map(([, name]) => name)).toEqual(['Bob', 'Cy']);
  },
);

it('an apostrophe before a formula stays in the export of another program', async () => {
  const { read } = await recordsOf(['Record ID,Email', "'-5,ada@orbit.example"]);
  expect(read[0]![0]).toBe("'-5");
});

describe('a stray quote', () => {
  it('a stray quote that swallows rows makes only its own line malformed', async () => {
    const { read, faults } = await recordsOf([
      'First Name,Last Name,Company,Email',
      'Ada,Novak,Orbit,ada@orbit.example',
      // The quote is closed two lines further down, so that two contacts would be swallowed.
      '"Eve,Ek,Orbit,eve@orbit.example',
      'Ben,Okoro,Acme,',
      'Cy,Dahl,"Helio",',
      'Di,Ek,Orbit,di@orbit.example',
    ]);
    expect(faults).toEqual([
      'the quote in line 3 of the file is not closed: it would swallow 2 lines below, which are read on their own',
    ]);
    expect(read.map(([name]) => name)).toEqual(['Ada', 'Ben', 'Cy', 'Di']);
  });

  it('a stray quote that swallows one row says so in the singular', async () => {
    const { faults } = await recordsOf([
      'First Name,Last Name,Company,Email',
      'Ada,Novak,Orbit,ada@orbit.example',
      '"Eve,Ek,Orbit,eve@orbit.example',
      'Cy,Dahl,"Helio",',
      'Di,Ek,Orbit,di@orbit.example',
    ]);
    expect(faults).toEqual([
      'the quote in line 3 of the file is not closed: it would swallow 1 line below, which is read on its own',
    ]);
  });

  it('a stray quote that pairs with another far below swallows no row between them', async () => {
    const rows = Array.from({ length: 6_000 }, (_, n) => `${n + 1},P${n},p${n}@acme.example,screen`);
    rows[9] = '10,P9,p9@acme.example,"monitor size';
    rows[4_999] = '5000,P4999,p4999@acme.example,"VIP, call first"';
    const { read, faults } = await recordsOf(['id,name,email,notes', ...rows]);
    expect(faults).toEqual([expect.stringContaining('line 11 ')]);
    expect(read).toHaveLength(5_999);
    expect(read[4_998]).toEqual(['5000', 'P4999', 'p4999@acme.example', 'VIP, call first']);
  });

  it('a stray quote that pairs with an inch mark merges no two rows into one', async () => {
    const { read, faults } = await recordsOf([
      'id,name,size,email',
      '1,Ann,"6,ann@acme.example',
      '2,Bob,7",bob@acme.example',
      '3,Cy,8,cy@acme.example',
    ]);
    expect(faults).toHaveLength(1);
    expect(read.map(([id]) => id)).toEqual(['2', '3']);
  });

  it('an unclosed quote makes its own line malformed if rows follow', async () => {
    const { read, faults } = await recordsOf([
      'id,email',
      '1,a@acme.example',
      '"2,b@acme.example',
      '3,c@acme.example',
    ]);
    expect(faults).toHaveLength(1);
    expect(read.map(([id]) => id)).toEqual(['1', '3']);
  });

  it('a quote is an ordinary character if the mapping says so', async () => {
    const path = file('id,email,size\n1,a@acme.example,"6\n2,b@acme.example,7"\n');
    const opened = await openExport(path, { mapping: { quotes: 'none' } });
    const read: string[][] = [];
    for await (const { records } of readDataRecords(opened, () => {})) read.push(...records);
    expect(read).toEqual([
      ['1', 'a@acme.example', '"6'],
      ['2', 'b@acme.example', '7"'],
    ]);
  });
});

it('a cell with line breaks in quotes is one cell, also where its lines hold delimiters', async () => {
  const { read, faults } = await recordsOf([
    'id,email,notes',
    '1,a@acme.example,"Hello Ann, thanks, bye',
    'and, as said, more"',
    '2,b@acme.example,"line"',
  ]);
  expect(faults).toEqual([]);
  expect(read.map((record) => record.length)).toEqual([3, 3]);
});

it('rows that another line end than the usual joins are rows of their own', async () => {
  const rows = Array.from({ length: 20_000 }, (_, n) => `${n},P${n},p${n}@acme.example`);
  rows[19_990] += '\r19990b,Joined,joined@acme.example';
  const { read, faults } = await recordsOf(['id,name,email', ...rows]);
  expect(faults).toEqual([]);
  expect(read).toHaveLength(20_001);
});

it('the rest of a record whose first cell is not closed is no row', async () => {
  const { read, faults } = await recordsOf([
    'name,email,company',
    '"Ann',
    'Lee,ann@acme.example,Acme',
    'Bob,bob@orbit.example,"Orbit"',
    'Cy,cy@helio.example,Helio',
  ]);
  expect(faults).toEqual([
    'lines 2 to 3 of the file are one damaged record: a quote, delimiter or line end is missing or surplus',
  ]);
  expect(read.map(([name]) => name)).toEqual(['Bob', 'Cy']);
});

describe('a damaged record of several lines', () => {
  it('a missing delimiter before a quoted cell of several lines leaves the row above alone', async () => {
    const { read, faults } = await recordsOf([
      'email,notes,city',
      'a@acme.example,,Oslo',
      'b@acme.example"line one',
      'line two",Graz',
    ]);
    expect(read).toEqual([['a@acme.example', '', 'Oslo']]);
    expect(faults).toEqual([expect.stringContaining('lines 3 to 4 ')]);
  });

  it('a missing delimiter behind a quoted cell of several lines leaves the row below alone', async () => {
    const { read, faults } = await recordsOf([
      'id,city,notes,linkedin_url',
      '1,Oslo,"line one',
      'line two"https://www.linkedin.com/in/p1',
      '2,Graz,,',
      '3,Oslo,"line one',
      'line two",',
    ]);
    expect(read.map(([id]) => id)).toEqual(['2', '3']);
    expect(faults).toEqual([expect.stringContaining('lines 2 to 3 ')]);
  });

  it('a cell of several lines that lacks a quote gives no row of its text, whatever its delimiters', async () => {
    for (const cell of ['"a, b, c\nd, e, f', 'a, b, c\nd, e, f"']) {
      const { read } = await recordsOf([
        '"notes","id","email"',
        '"Orbit","1","a@acme.example"',
        `${cell},"2","b@acme.example"`,
        '"one\ntwo","3","c@acme.example"',
      ]);
      expect(read.map(([, id]) => id)).toEqual(['1', '3']);
    }
  });

  it('a cell of two lines that lacks its opening quote gives no row where both lines are as wide as rows', async () => {
    const { read, faults } = await recordsOf([
      'linkedin_url,city,company,id,Marketing status',
      ',Oslo,Orbit,1000,Subscribed',
      'https://www.linkedin.com/in/p1,Oslo,a, b, c',
      'd, e, f",1001,Unsubscribed',
      'https://www.linkedin.com/in/p2,Oslo,,1002,Subscribed',
    ]);
    expect(faults).toEqual([expect.stringContaining('lines 3 to 4 ')]);
    expect(read.map((record) => record[3])).toEqual(['1000', '1002']);
  });

  it('a cell of two or three lines without blanks that lacks its opening quote gives no row', async () => {
    for (const cell of ['a,b\nc,d"', 'a,b\n,d"', 'a,b\nc,d,e,f,g\nh,i"', 'a,b\nc,d,e\nf,g"']) {
      const { read } = await recordsOf([
        'email,notes,Marketing status',
        'p1@acme.example,,Subscribed',
        `p2@acme.example,${cell},Unsubscribed`,
        'p3@acme.example,,Unsubscribed',
        'p4@acme.example,,Subscribed',
      ]);
      expect([cell, read.map(([email]) => email)]).toEqual([
        cell,
        ['p1@acme.example', 'p3@acme.example', 'p4@acme.example'],
      ]);
    }
  });

  it('a cell of two lines that lacks its opening quote leaves the row above it alone', async () => {
    const { read, faults } = await recordsOf([
      'email,company,id',
      'p1@acme.example,Orbit,1001',
      'p2@acme.example,a, b, c',
      'd, e",1002',
      'p3@acme.example,Orbit,1003',
      ',a, b',
      'c, d, e",1004',
      'p5@acme.example,Orbit,1005',
    ]);
    expect(faults.map((fault) => fault.slice(0, 12))).toEqual(['lines 3 to 4', 'lines 6 to 7']);
    expect(read.map((record) => record[2])).toEqual(['1001', '1003', '1005']);
  });

  it('a row with an inch mark is read where its cells and those of the row above fit their columns', async () => {
    const rows = [
      '1,Ann,p1@acme.example,plain,Subscribed',
      '2,Bob,p2@acme.example,12",Unsubscribed',
      '3,Cy,no address,7",Subscribed',
      '4,Di,p4@acme.example,5" pipe,Pending',
      '5,Eve,,6",Subscribed',
      'x-6,Fay,,3",Subscribed',
    ];
    const { read, faults } = await recordsOf(['id,name,email,size,Marketing status', ...rows]);
    expect(faults).toEqual([]);
    expect(read.map((record) => record.join(','))).toEqual(rows);
  });

  it('two records of several lines give no row if the line end between them is missing', async () => {
    const { read } = await recordsOf([
      'notes;status;email',
      'Orbit;;a@acme.example',
      '"line one',
      'line two";;"line one',
      'line two";;b@acme.example',
    ]);
    expect(read.map(([, , email]) => email)).toEqual(['a@acme.example']);
  });

  it('the only two records of several lines give no row if the line end between them is missing', async () => {
    const lines = ['"notes","email","city"', '"Orbit","a@acme.example","Oslo""Orbit","",""'];
    expect((await recordsOf(lines)).read).toEqual([]);
  });

  it('a record of several lines gives no row of its end and the next row if a line end is missing', async () => {
    const { read } = await recordsOf([
      'email,notes,city',
      'a@acme.example,,Oslo',
      'b@acme.example,"line one',
      'line two"c@acme.example,"line one',
      'line two",Graz',
      'd@acme.example,,Oslo',
    ]);
    expect(read.map(([email]) => email)).toEqual(['a@acme.example', 'd@acme.example']);
  });

  it('a stray quote behind a quoted cell of several lines swallows no row below', async () => {
    const { read } = await recordsOf([
      'name,email,company,notes',
      'Ann,a@acme.example,Orbit,',
      'Bob,b@acme.example,"line one',
      'line two","Orbit',
      'Cy,c@acme.example,", Inc",Orbit',
      'Di,d@acme.example,Orbit,',
    ]);
    expect(read.map(([name]) => name)).toEqual(['Ann', 'Cy', 'Di']);
  });

  it('a stray quote at the beginning of a record’s second line makes no row of that line', async () => {
    const { read, faults } = await recordsOf([
      'notes,status,linkedin_url,id',
      'Orbit,,,1',
      '"a, b, c',
      '"d, e, f",,,2',
      '"line one',
      'line two",,,3',
    ]);
    expect(read.map(([, , , id]) => id)).toEqual(['1', '3']);
    expect(faults).toHaveLength(1);
  });
});

it('a damaged record leaves the row below it alone where it closes its cell and lacks a delimiter', async () => {
  const { read, faults } = await recordsOf([
    'city;company;email;notes;id',
    'Oslo;"line one',
    'line two";p0@acme.example;"Acme; Inc"1',
    'Oslo;"line one',
    'line two";p1@acme.example;Orbit;2',
  ]);
  expect(read.map((record) => record.at(-1))).toEqual(['2']);
  expect(faults).toEqual([expect.stringContaining('lines 2 to 3 ')]);
});

it('a damaged record includes the row above whose last cell has lost its opening quote', async () => {
  const { read, faults } = await recordsOf([
    'id,email,notes',
    '1,a@acme.example,',
    '2,b@acme.example,line one',
    'line two',
    'line three"',
    '3,c@acme.example,',
  ]);
  expect(read.map(([id]) => id)).toEqual(['1', '3']);
  expect(faults).toEqual([expect.stringContaining('lines 3 to 5 ')]);
});

it('a damaged record is two rows if the line end between two rows is missing', async () => {
  const { read, faults } = await recordsOf([
    'notes,email,city',
    'Orbit,a@acme.example,Oslo"line one',
    'line two",b@acme.example,Graz',
    'Orbit,c@acme.example,Oslo',
  ]);
  expect(read.map(([, email]) => email)).toEqual(['c@acme.example']);
  expect(faults).toEqual([expect.stringContaining('lines 2 to 3 ')]);
});

it('a damaged record swallows no row if its stray quote meets a cell that begins with a delimiter', async () => {
  const { read } = await recordsOf([
    'linkedin_url,company,email',
    '"https://www.linkedin.com/in/p0,Orbit,a@acme.example',
    'https://www.linkedin.com/in/p1,Orbit,b@acme.example',
    ',", Inc",c@acme.example',
    ',Helio,"d@acme.example"',
  ]);
  expect(read.map(([, , email]) => email)).toEqual(['b@acme.example', 'c@acme.example', 'd@acme.example']);
});

describe('a footer', () => {
  it('a footer is left out, and the contacts above it with one cell are not', async () => {
    const urls = Array.from({ length: 20 }, (_, n) => `https://linkedin.com/in/p${n},,`);
    const { read, warnings } = await recordsOf([
      'LinkedIn URL,Name,Company',
      ...urls,
      'Generated by: Max Muster',
    ]);
    expect(read).toHaveLength(20);
    expect(warnings).toEqual(['1 line below the table is no contact and is left out']);
  });

  it('a line that gives an identity is never part of a footer, even between a blank line and the footer', async () => {
    const { faults, warnings } = await recordsOf([
      'LinkedIn URL,Name,Company',
      'https://linkedin.com/in/p0,Ada,Orbit',
      '',
      'https://linkedin.com/in/p1',
      'Generated by: Max',
    ]);
    expect(faults).toEqual(['too few cells: 1, and the header has 3']);
    expect(warnings).toEqual(['1 line below the table is no contact and is left out']);
  });

  it.each([
    ['"Total","60"', '"Informations confidentielles - Ne pas diffuser"'],
    ['Gesamtsummen (60 Datensätze)', 'Vertrauliche Informationen – Nicht weitergeben'],
    ['"Totales generales (60 registros)"', '"Información confidencial - No distribuir"'],
    ['Insgesamt,60', '"Copyright (c) 2000-2026 salesforce.com, inc."'],
    ['"Total","1 060"'],
  ])('the footer of a report in another language is left out: %s %s', async (...lines) => {
    const { read, faults, warnings } = await recordsOf([
      'First Name,Last Name,Company,Email',
      'Ada,Moreau,Orbit,a@orbit.example',
      'Ben,,,',
      ...lines,
    ]);
    expect(read.map(([name]) => name)).toEqual(['Ada', 'Ben']);
    expect(faults).toEqual([]);
    const left = lines.length === 1 ? '1 line below the table is' : '2 lines below the table are';
    expect(warnings).toEqual([expect.stringContaining(left)]);
  });

  it.each([
    ['it is a whole row', ['Suma,60,']],
    ['it has a phone number', ['Suma,+49 30 1234567', 'Suma,0301234567']],
    ['a row follows', ['Total,60', 'Ben,,']],
    ['it has an address', ['Total,60@orbit.example']],
  ])('a line with a word for a total and a figure is no footer if %s', async (_, lines) => {
    const { warnings } = await recordsOf(['Name,Company,Email', 'Ada,Orbit,a@orbit.example', ...lines]);
    expect(warnings.filter((warning) => warning.includes('below the table'))).toEqual([]);
  });

  it.each([
    'Total: 2 contacts',
    'total 2',
    '"Totals: 1,234 rows"',
    '"Total number of contacts: 2",,',
    'TOTAL = 2.',
    'Summe: 40 Kontakte',
    'Итого: 2 контакта',
    '合計 2件',
    'Yhteensä 2',
    'Összesen: 2 névjegy',
  ])('a last line with only a total is a footer: %s', async (line) => {
    const { read, faults, warnings } = await recordsOf([
      'Name,Company,Email',
      'Ada,Orbit,a@orbit.example',
      'Ben,,',
      line,
    ]);
    expect(read.map(([name]) => name)).toEqual(['Ada', 'Ben']);
    expect(faults).toEqual([]);
    expect(warnings).toEqual(['1 line below the table is no contact and is left out']);
  });

  it.each([
    ['another line follows', ['Total: 2 contacts', 'Ben,,']],
    ['it has no number', ['Total Ada']],
    ['it only begins with such a word', ['Summerfield 2', 'Ben,,', 'Sumatra 24']],
    ['it has more cells', ['Total: 2,Orbit,t@orbit.example']],
    ['it names an identity', ['Total: 2 ,,t@orbit.example']],
    ['it has a longer text', ['Total 3 people whom Ada Moreau called']],
  ])('a line with a total is no footer if %s', async (_, lines) => {
    const { warnings } = await recordsOf(['Name,Company,Email', 'Ada,Orbit,a@orbit.example', ...lines]);
    expect(warnings).toEqual([]);
  });

  it('a row with only a name is never part of a footer', async () => {
    const { read, warnings } = await recordsOf([
      'Name,Company,Email',
      'Ada,Orbit,',
      'Ben,,',
      'Cy,,',
      'Generated by: Max',
    ]);
    expect(read.map(([name]) => name)).toEqual(['Ada', 'Ben', 'Cy']);
    expect(warnings).toEqual(['1 line below the table is no contact and is left out']);
  });
});

it('a file that ends in the middle of a line is said to be perhaps cut off', async () => {
  const opened = await openExport(file('id,email\n1,a@acme.example\n2,b@acme.exam'), {});
  const warnings: string[] = [];
  for await (const _ of readDataRecords(opened, (warning) => warnings.push(warning)));
  expect(warnings).toEqual(['the last line has no line end: if the file was cut off, row 2 is not whole']);
});
