import { chmodSync } from 'node:fs';
import { dirname } from 'node:path';
import { inspect } from 'node:util';
import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { Problem } from '../../../src/domain/problem.ts';
import { readBytes } from '../../../src/ingest/reading/export-bytes.ts';
import { openExport, type ReadingOptions } from '../../../src/ingest/reading/open-export.ts';
import { exportFiles } from '../../helpers/exports/export-file.ts';
import { inEncoding } from '../../helpers/exports/in-encoding.ts';
import { inspectExport } from '../../helpers/exports/inspect-export.ts';

const file = exportFiles();
const header = 'First Name,Last Name,Email,Company';
const row = 'Ada,Novák,ada@orbit.example,Orbit';

/** The problem that a file is refused with. */
async function refusal(content: string | Uint8Array, options?: ReadingOptions): Promise<Problem> {
  return refusalOf(file(content), options);
}

async function refusalOf(path: string, options?: ReadingOptions): Promise<Problem> {
  const refused = await inspectExport(path, options).then(
    () => undefined,
    (error: unknown) => error,
  );
  expect(refused).toBeInstanceOf(Problem);
  return refused as Problem;
}

function utf16(text: string, order: 'le' | 'be'): Buffer {
  const bytes = Buffer.from(text, 'utf16le');
  return order === 'le' ? bytes : bytes.swap16();
}

describe('encodings', () => {
  it.each([
    ['utf-8', Buffer.from(`${header}\n${row}\n`)],
    ['utf-8', Buffer.from(`\ufeff"First Name",Last Name,Email,Company\n${row}\n`)],
    ['utf-16le', utf16(`\ufeff${header}\n${row}\n`, 'le')],
    ['utf-16be', utf16(`\ufeff${header}\n${row}\n`, 'be')],
    ['utf-8', gzipSync(`${header}\n${row}\n`)],
    ['utf-16le', gzipSync(utf16(`\ufeff${header}\n${row}\n`, 'le'))],
  ])('the encoding %s is found (case %#)', async (encoding, bytes) => {
    expect(await inspectExport(file(bytes))).toMatchObject({
      encoding,
      header: ['First Name', 'Last Name', 'Email', 'Company'],
      warnings: [],
    });
  });

  it('a file that is not UTF-8 is refused with its first such cells as Windows-1252', async () => {
    const plain = 'Ada,Novak,ada@orbit.example,"Orbit\nLtd"\n\n'.repeat(20_000);
    const foreign = `Ada,Müller,a@orbit.example,Größe\nÓscar,Núñez,o@orbit.example,Orbit`;
    const problem = await refusal(Buffer.from(`Contacts\n${header}\n${plain}${foreign}`, 'latin1'));
    expect(problem).toMatchObject({ type: 'export.encoding', exitCode: 2 });
    expect(problem.where).toMatch(/, line 60003$/);
    expect(problem.next).toContain('--encoding windows-1252');
    expect(problem.cells).toEqual([
      'line 60003, column 2, as Windows-1252: Müller',
      'line 60003, column 4, as Windows-1252: Größe',
      'line 60004, column 1, as Windows-1252: Óscar',
    ]);
  });

  it('the cells of a refused file are in no message, log or JSON', async () => {
    const problem = await refusal(Buffer.from(`${header}\nAda,Müller,,Orbit\n`, 'latin1'));
    expect(problem.explain(true)).toContain('Müller');
    const logged = [
      problem.explain(),
      problem.sentence,
      problem.stack,
      JSON.stringify(problem),
      inspect(problem),
    ];
    expect(logged.join()).not.toContain('Müller');
  });

  it('a file that mixes UTF-8 with another encoding shows only cells that are not UTF-8', async () => {
    const bytes = Buffer.concat([Buffer.from(`${header}\n${row}\n`), Buffer.from(`${row}\n`, 'latin1')]);
    const problem = await refusal(bytes);
    expect(problem.where).toMatch(/, line 3$/);
    expect(problem.cells).toEqual(['line 3, column 2, as Windows-1252: Novák']);
  });

  it.each([
    ['windows-1252', 'Müller – Weiß'],
    ['windows-1250', 'Jiří Dvořák'],
    ['windows-1251', 'Иванов'],
    ['macintosh', 'Müller'],
    ['shift_jis', '山田太郎'],
    ['gb18030', '王小明'],
  ])('a file in %s is read if a mapping file names the encoding', async (encoding, name) => {
    const bytes = inEncoding(`${header}\nAda,${name},ada@orbit.example,Orbit\n`, encoding);
    expect((await refusal(bytes)).type).toBe('export.encoding');
    const { layout } = await openExport(file(bytes), { mapping: { encoding } });
    expect(layout.rows[0]![1]).toBe(name);
  });

  it('a file in UTF-16 without a byte order mark is refused, unless a mapping file names the encoding', async () => {
    const bytes = utf16(`${header}\n${row}\n`, 'le');
    expect(await refusal(bytes)).toMatchObject({
      type: 'export.not-csv',
      next: expect.stringContaining('--encoding utf-16le'),
    });
    expect((await inspectExport(file(bytes), { mapping: { encoding: 'utf-16le' } })).encoding).toBe(
      'utf-16le',
    );
  });

  it.each(['utf-8', 'shift_jis'])(
    'a file that is not valid in the given encoding %s is refused',
    async (encoding) => {
      const bytes = Buffer.concat([Buffer.from(`${header}\nAda,Novak,,\nAda,`), Buffer.from([0xff, 0x0a])]);
      expect(await refusal(bytes, { mapping: { encoding } })).toMatchObject({
        type: 'export.encoding',
        message: `the file is not valid ${encoding}`,
        cells: [],
      });
    },
  );

  it('an unknown encoding is refused', async () => {
    expect((await refusal(row, { mapping: { encoding: 'utf-9' } })).type).toBe('mapping.encoding');
  });

  it('half a character of UTF-16 at the end of a file is refused', async () => {
    const bytes = utf16(`\ufeff${header}\n${row}\n`, 'le');
    expect((await refusal(bytes.subarray(0, -1))).type).toBe('export.encoding');
  });
});

describe('delimiters and line ends', () => {
  it.each([',', ';', '\t', '|'])('the delimiter %j is found', async (delimiter) => {
    const lines = [header, 'Ada,Novak,ada@orbit.example,Orbit'].map((line) =>
      line.replaceAll(',', delimiter),
    );
    expect((await inspectExport(file(lines.join('\n')))).delimiter).toBe(delimiter);
  });

  it('commas in cells do not turn a file with semicolons into a file with commas', async () => {
    const text = `First Name;Email;Company;Address\n${'Ada;a@x.example;Orbit, Ltd.;1, High St, Town\n'.repeat(9)}`;
    expect((await inspectExport(file(text))).delimiter).toBe(';');
  });

  it.each(['sep=;\r\n', '"sep=;"\n'])(
    'a first line %j sets the delimiter and is no row',
    async (announcement) => {
      const inspected = await inspectExport(file(`${announcement}Email;A,B\nx@y.example;1\n`));
      expect(inspected).toMatchObject({ delimiter: ';', header: ['Email', 'A,B'], warnings: [] });
    },
  );

  it('the delimiter of a mapping file is used', async () => {
    const inspected = await inspectExport(file('Email!Company\na@x.example!Orbit\n'), {
      mapping: { delimiter: '!' },
    });
    expect(inspected.header).toEqual(['Email', 'Company']);
  });

  it.each(['\n', '\r\n', '\r'])('%j ends lines', async (end) => {
    expect(await inspectExport(file([header, row, ''].join(end)))).toMatchObject({
      newline: end === '\r' ? '\r' : '\n',
      header: ['First Name', 'Last Name', 'Email', 'Company'],
    });
  });

  it('CRLF and LF may alternate', async () => {
    const { layout } = await openExport(file(`${header}\n${row}\r\n${row}\n`), {});
    expect(layout.rows).toEqual([row.split(','), row.split(',')]);
  });

  it('a quote that never closes is refused with its line, even far below the header', async () => {
    const text = `${header}\n${`${row}\n`.repeat(30_000)}Ada,Novak,"a@orbit.example,Orbit\n${row}\n`;
    expect(await refusal(text)).toMatchObject({
      type: 'export.unclosed-quote',
      where: expect.stringMatching(/, line 30002$/),
      exitCode: 2,
    });
  });

  it('a quote in the header that never closes is refused with its line', async () => {
    expect(await refusal(`"Email,Name\n${row}\n`)).toMatchObject({
      type: 'export.unclosed-quote',
      where: expect.stringMatching(/, line 1$/),
    });
  });
});

describe('the header', () => {
  it('the header is found below titles and notes', async () => {
    const text = `"All contacts"\n"As of 2026-11-21, by Max"\n\n${header}\n${row}\n`;
    const inspected = await inspectExport(file(text));
    expect(inspected.header).toEqual(['First Name', 'Last Name', 'Email', 'Company']);
    expect(inspected.warnings[0]).toContain('3 lines above the header');
  });

  it('the header is found below the notes of an export of connections', async () => {
    const columns = 'First Name,Last Name,URL,Email Address,Company,Position,Connected On';
    const text =
      `Notes:\n"When exporting, some addresses, are missing."\n\n${columns}\nAda,Novak,,,Orbit,CTO,1 ` +
      `May 2026\n`;
    expect((await inspectExport(file(text))).source).toBe('linkedin_connections');
  });

  it.each([
    ['column words', 'first_name,last_name,email,company\nTitle,Owner,title@x.example,Company\n'],
    ['the words of the header', 'first_name,last_name,email,company\nFirst,Last,Email,Company\n'],
    ['words of other columns', 'First Name,Last Name,Email,Company\nTitle,City,a@x.example,Phone\n'],
    ['words of a dialogue', 'First Name,Last Name,Email,Company\nCity,Country,Phone,State\n'],
  ])('the header stays the first line if the first contact consists of %s', async (_, text) => {
    const inspected = await inspectExport(file(`${text}Ada,Novak,a@x.example,Orbit\n`));
    expect(inspected.header).toEqual(text.split('\n')[0]!.split(','));
    expect(inspected.warnings).toEqual([]);
  });

  it('the header may hold line breaks and quotes', async () => {
    const inspected = await inspectExport(file('"First\n Name","Last ""Name""",Email\nA,B,a@x.example\n'));
    expect(inspected.header).toEqual(['First\n Name', 'Last "Name"', 'Email']);
    expect(inspected.mapping).toEqual({
      'First\n Name': 'first_name',
      'Last "Name"': 'last_name',
      Email: 'email',
    });
  });

  it('a file whose first line is a contact has no header, and the error does not repeat the contact', async () => {
    const problem = await refusal('Ada,Novak,ada@orbit.example\nBen,Okoro,ben@orbit.example\n');
    expect(problem.type).toBe('export.no-header');
    expect(problem.explain()).not.toContain('ada');
  });

  it('a header that does not end is refused, and not cut off', async () => {
    const names = Array.from({ length: 70_000 }, (_, column) => `field ${column}`).join(',');
    expect(await refusal(`Email,${names}\na@x.example${',1'.repeat(70_000)}\n`)).toMatchObject({
      type: 'export.header-too-long',
      where: expect.stringMatching(/, line 1$/),
    });
  });

  it('an error does not show a header that may be a contact', async () => {
    const problem = await refusal('Ada,Novak,Orbit\nBen,Okoro,Fjord\n');
    expect(problem.type).toBe('export.no-identifying-column');
    expect(problem.explain()).not.toContain('Novak');
  });

  it.each([
    ['"~"', '1 id~First name~Kontakt', '7~Mira~mira_berg@orbit.example'],
    ['"~"', 'email~name', 'mira@orbit.example~Mira Berg'],
    ['"^"', 'company^email', 'Orbit^mira@orbit.example'],
    ['"\\u0001"', 'email\u0001company', 'mira@orbit.example\u0001Orbit'],
  ])('a file of one column names its likely delimiter: %s in %s', async (by, ...lines) => {
    expect(await refusal(`${lines.join('\n')}\n`)).toMatchObject({
      type: 'export.unknown-delimiter',
      message: `the file has one column that seems to be several, separated by ${by}`,
      next: `write delimiter: ${by} in a mapping file, and name the mapping file: --mapping FILE`,
      exitCode: 2,
    });
  });

  it.each([
    ['"Record ID,Email,First Name"', '"1,mira@orbit.example,Mira"'],
    ['"Nummer;Post;Ruf"', '"1;mira@orbit.example;Mira"'],
  ])('a file whose lines are in quotes is refused: %s', async (...lines) => {
    expect(await refusal(`${lines.join('\n')}\n`)).toMatchObject({
      type: 'export.unknown-delimiter',
      next: expect.stringContaining('each line is in quotes'),
    });
  });

  it.each(['Email:', 'E-Mail (*)', 'Email: work!'])('a column of addresses can be named %s', async (name) => {
    expect((await inspectExport(file(`${name}\nmira@orbit.example\n`))).header).toEqual([name]);
  });

  it('a file is read with the delimiter of its mapping file', async () => {
    const text = 'Record ID^Email^Company\n1^a@x.example^Orbit, Inc.\n2^b@x.example^Berg, Son\n';
    expect((await inspectExport(file(text), { mapping: { delimiter: '^' } })).header).toHaveLength(3);
  });

  it.each([
    ['Email:Company', 'mira@orbit.example'],
    ['contact.email', 'mira@orbit.example'],
    ['Email:work', 'a:mira@orbit.example'],
  ])('a file of one column %s is not separated by a mark in its name', async (...lines) => {
    const mapping = { columns: { email: 1 } };
    expect((await inspectExport(file(`${lines.join('\n')}\n`), { mapping })).header).toHaveLength(1);
  });

  it('a first line of numbers is not called a contact', async () => {
    expect(await refusal('1,2,3\n')).toMatchObject({
      type: 'export.no-header',
      message: 'the first line holds values and not the names of the columns',
    });
  });

  it.each(['Kunden-Nr\n7-1\n8-2\n', 'Kontakt\nMira\nJon\n', 'Who, and where?\nMira\nJon\n'])(
    'a file of one column without people is refused, and its name is not taken for several: %j',
    async (text) => {
      expect((await refusal(text)).type).toBe('export.no-identifying-column');
    },
  );

  it('a header is refused if no line below has as many cells', async () => {
    const problem = await refusal('Email,Company\na@x.example,Orbit,1\nb@x.example,Orbit,2\n');
    expect(problem.type).toBe('export.ragged');
    expect(problem.message).toBe('the header has 2 columns, and no line below it has as many');
  });
});

describe('what is no CSV is refused by what it is', () => {
  it.each([
    ['an Excel workbook (xlsx)', Buffer.from('PK\u0003\u0004\u0014\0\0\0[Content_Types].xml', 'latin1')],
    [
      'a Word document (docx)',
      Buffer.from('PK\u0003\u0004\u0014\0\0\0[Content_Types].xml word/document.xml'),
    ],
    [
      'an OpenDocument file',
      Buffer.from('PK\u0003\u0004mimetypeapplication/vnd.oasis.opendocument.spreadsheet'),
    ],
    ['a rich text document (RTF)', Buffer.from('{\\rtf1\\ansi Contacts}')],
    [
      'a file of contact cards (vCard)',
      Buffer.from('BEGIN:VCARD\r\nVERSION:3.0\r\nEMAIL;TYPE=work:ada@orbit.example\r\nEND:VCARD\r\n'),
    ],
    ['a zip archive', Buffer.from('PK\u0003\u0004\u0014\0\0\0contacts.csv', 'latin1')],
    ['an old Excel workbook (xls)', Buffer.from('d0cf11e0a1b11ae1', 'hex')],
    ['a PDF', Buffer.from('%PDF-1.7')],
    ['a web page (HTML)', Buffer.from('\ufeff\n<!DOCTYPE html><html>')],
    ['JSON', Buffer.from('[{"email": "a@x.example"}]')],
    ['JSON', Buffer.from('{\n "contacts": []}')],
    ['XML', Buffer.from('<?xml version="1.0"?>')],
    ['a Parquet file', Buffer.from('PAR1')],
  ])('a file that is no CSV is refused by its kind: %s', async (kind, bytes) => {
    const problem = await refusal(bytes);
    expect(problem.type).toBe('export.not-csv');
    expect(problem.message).toContain(kind);
  });

  it.each(['PKid', 'PKид', 'PKöä'])(
    'an export whose header begins with %s is no zip archive',
    async (name) => {
      expect((await inspectExport(file(`${name},Email\n1,mira@orbit.example\n`))).header).toEqual([
        name,
        'Email',
      ]);
    },
  );

  it('a file that is no CSV is refused by its kind inside gzip too', async () => {
    expect((await refusal(gzipSync('%PDF-1.7'))).message).toContain('PDF');
  });

  it('a file of random bytes is refused', async () => {
    expect((await refusal(Buffer.from(Array.from({ length: 500 }, (_, n) => n % 32)))).type).toBe(
      'export.not-csv',
    );
  });
});

describe('files', () => {
  it.each([
    ['', 'export.empty'],
    ['\n \n\r\n', 'export.empty'],
    [gzipSync(''), 'export.empty'],
    [gzipSync(`${header}\n${row}\n`).subarray(0, -9), 'export.gzip-damaged'],
  ])('a refused file is named with the next step, case %#: %s', async (content, type) => {
    expect((await refusal(content)).type).toBe(type);
  });

  it('a gzip file that unpacks to far more than an export has is refused', async () => {
    const path = file(gzipSync('a'.repeat(1_000_000)));
    const unpack = async (most: number): Promise<number> => {
      let bytes = 0;
      for await (const piece of readBytes(path, true, undefined, most)) bytes += piece.length;
      return bytes;
    };
    expect(await unpack(1_000_000)).toBe(1_000_000);
    await expect(unpack(999_999)).rejects.toMatchObject({ type: 'export.too-large', exitCode: 2 });
  });

  it('a missing file is refused', async () => {
    expect((await refusalOf('/nowhere/contacts.csv')).type).toBe('export.missing');
  });

  it('a directory is refused as a file', async () => {
    expect((await refusalOf(dirname(file(header)))).type).toBe('export.not-a-file');
  });

  it.skipIf(process.getuid?.() === 0)('an unreadable file is refused', async () => {
    const path = file(header);
    chmodSync(path, 0);
    expect((await refusalOf(path)).type).toBe('export.not-permitted');
  });
});
