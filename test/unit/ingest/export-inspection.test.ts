import { chmodSync } from 'node:fs';
import { dirname } from 'node:path';
import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { Problem } from '../../../src/domain/problem.ts';
import { readBytes } from '../../../src/ingest/reading/bytes/file-bytes.ts';
import type { ReadingOptions } from '../../../src/ingest/reading/open-export.ts';
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

function utf16(text: string, order: 'le' | 'be', mark: boolean): Buffer {
  const bytes = Buffer.from(`${mark ? '\ufeff' : ''}${text}`, 'utf16le');
  return order === 'le' ? bytes : bytes.swap16();
}

describe('encodings', () => {
  it.each([
    ['utf-8', Buffer.from(`${header}\n${row}\n`)],
    ['utf-8', Buffer.from(`\ufeff"First Name",Last Name,Email,Company\n${row}\n`)],
    ['utf-16le', utf16(`${header}\n${row}\n`, 'le', true)],
    ['utf-16be', utf16(`${header}\n${row}\n`, 'be', true)],
    ['utf-16le', utf16(`${header}\n${row}\n`, 'le', false)],
    ['utf-16be', utf16(`${header}\n${row}\n`, 'be', false)],
    ['utf-8', gzipSync(`${header}\n${row}\n`)],
    ['utf-16le', gzipSync(utf16(`${header}\n${row}\n`, 'le', true))],
  ])('the encoding %s is found (case %#)', async (encoding, bytes) => {
    expect(await inspectExport(file(bytes))).toMatchObject({
      encoding,
      header: ['First Name', 'Last Name', 'Email', 'Company'],
      warnings: [],
    });
  });

  it('a file that is not UTF-8 is read as Windows-1252, with a warning that names the line', async () => {
    const plain = 'Ada,Novak,ada@orbit.example,Orbit\n'.repeat(20_000);
    const inspected = await inspectExport(file(Buffer.from(`${header}\n${plain}${row}\n`, 'latin1')));
    expect(inspected.encoding).toBe('windows-1252');
    expect(inspected.warnings[0]).toContain('line 20002 ');
  });

  it('a file that mixes UTF-8 with another encoding is refused with the line', async () => {
    const bytes = Buffer.concat([Buffer.from(`${header}\n${row}\n`), Buffer.from(`${row}\n`, 'latin1')]);
    const problem = await refusal(bytes);
    expect(problem.type).toBe('export.mixed-encoding');
    expect(problem.where).toMatch(/, line 3$/);
  });

  it.each(['Müller Weiß Jürgens', 'Núñez Ibáñez Ávila Íñigo'])(
    'a file that mixes Windows-1252 with UTF-8 is said to mix them: %s',
    async (names) => {
      const lines = people(names).split('\n');
      for (const isUtf8 of [
        (line: number) => line === 1,
        (line: number) => line > 1,
        (line: number) => line % 2 > 0,
      ]) {
        const bytes = lines.map((text, line) => Buffer.from(`${text}\n`, isUtf8(line) ? 'utf8' : 'latin1'));
        expect((await refusal(Buffer.concat(bytes))).type).toBe('export.mixed-encoding');
      }
    },
  );

  it.each([
    ['MS-DOS', [0x4d, 0x81, 0x6c, 0x6c, 0x65, 0x72]],
    ['MS-DOS, with a quote of Windows-1252 for ö', [0x53, 0x94, 0x68, 0x6e, 0x65]],
    ['MS-DOS, with a sign of Windows-1252 for Ö', [0x4b, 0x99, 0x4c, 0x4e]],
    ['Shift JIS', [0x8d, 0x82, 0x8b, 0xb4]],
  ])(
    'a file in the encoding of %s is refused with the line, and not read as Windows-1252',
    async (_, name) => {
      const bytes = Buffer.from([...Buffer.from(`${header}\nAda,`), ...name, ...Buffer.from(',,Orbit\n')]);
      const problem = await refusal(bytes);
      expect(problem.type).toBe('export.encoding');
      expect(problem.where).toMatch(/, line 2$/);
      await expect(inspectExport(file(bytes), { mapping: { encoding: 'shift_jis' } })).resolves.toBeDefined();
    },
  );

  const people = (names: string): string =>
    [header, ...names.split(' ').map((name, index) => `Ada,${name},ada${index}@orbit.example,Orbit`)].join(
      '\n',
    );

  it.each([
    ['windows-1251', 'Иванов Петрова Соколов'],
    ['koi8-r', 'Иванов Петрова Соколов'],
    ['iso-8859-5', 'Иванов Петрова Соколов'],
    ['windows-1253', 'Παπαδόπουλος Νικολάου Γεωργίου'],
    ['windows-1255', 'כהן לוי מזרחי'],
    ['windows-1250', 'Wałęsa Łukasik Paweł Żółtowski Kowalski'],
    ['windows-1250', 'Jiří Dvořák Němec Černý Novák Veselý Tomáš'],
    ['windows-1250', 'Kovačević Petrović Babić Žarko'],
    ['windows-1250', 'Szűcs Kovács Erdős Tóth Győri Ernő Molnár'],
    ['windows-1257', 'Jankauskienė Šukys Mažeika Grigaliūnas Rūta'],
    ['windows-1257', 'Bērziņa Kalniņš Ozolītis Līga Jānis'],
    ['iso-8859-13', 'Butkutė Balčiūnas Žukauskas Kazlauskaitė'],
    ['iso-8859-13', 'Liepiņš Ēriks Vītoliņa Lācis'],
    ['iso-8859-2', 'Wałęsa Łukasik Paweł Żółtowski Kowalski'],
    ['macintosh', 'Müller Schäfer Jürgens Weiß'],
    ['gb18030', '王小明 李建国 张志强'],
    ['euc-kr', '김민수 이영희 박철수'],
    ['euc-kr', '홍길동 최영수 정미경 강동원 윤서연 임재범'],
    ['big5', '王小明 陳美玲 林志豪 黃雅婷'],
    ['shift_jis', '山田太郎 鈴木花子 佐藤工業 電子メール 渡辺ヤマダ'],
    ['euc-jp', '山田太郎 鈴木花子 佐藤工業 渡辺ヤマダ'],
  ])(
    'a file in %s is refused before names are garbled, unless a mapping file names it',
    async (encoding, names) => {
      const bytes = inEncoding(people(names), encoding);
      const problem = await refusal(bytes);
      expect(problem.type).toBe('export.encoding');
      expect(problem.next).toContain('--encoding');
      await expect(inspectExport(file(bytes), { mapping: { encoding } })).resolves.toMatchObject({
        encoding,
      });
    },
  );

  it.each([
    'Müller Weiß Jørgensen Åkesson Sæther Ærø Ñuñez Conceição Ávila Brontë',
    'O’Neil D´Angelo Col·lectiu N°Client café® Œuvre',
    'MÜLLER ÅSE PEÑA ÇELIK',
    'Größl Häußler Lefèvre Brûlé Coûteau Lebrûn Zoë Chloë François Lançon Boîte Vîtes Hûs Août Fûts',
    'Núñez Ibáñez Íñigo Simões Camões Conceição Põe Trovões Lourenço Nicolò Forlì Bortolò Dessì',
    'Brontë Noë Joëlle Sjöström Kjær Kæstel Ødegård Hämäläinen Räikkönen Šimo Yrjö',
    'Þór Þórdís Þorgils Þuríður Eyþór Snæþór Hafþór Ásþór Arnþrúður Húsaþing Jöklaþula Guðmundsdóttir Eðvarð',
    'Jákup Róðá Eyðun Llorenç Vicenç Dolç Òscar Torròs Máiréad Éamonn Agnesë Çlirim Lulë Tiranë Bukurië Çabej',
    'Tõnis Õunapuu Jõgi Põldmäe Rõõmus Võsu Çetin Koç Gökçe Akçay Võ Ðinh Ðoàn Ðokovic Ðuric',
    'Jean–Luc Straße…Nord «Société» “Müller” km² 100m³ Ltd.™ A×B',
  ])('a file in Windows-1252 is read with all that its names have: %s', async (names) => {
    const inspected = await inspectExport(file(inEncoding(people(names), 'windows-1252')));
    expect(inspected.encoding).toBe('windows-1252');
  });

  it.each([
    ['of a name', 'øa'.repeat(500_000)],
    ['of Base64', `Jürg ${'QUJD'.repeat(15_000)} `.repeat(15)],
  ])(
    'a million letters %s do not delay the search for the encoding',
    { timeout: 20_000 },
    async (_, names) => {
      const inspected = await inspectExport(file(inEncoding(people(names), 'windows-1252')));
      expect(inspected.encoding).toBe('windows-1252');
    },
  );

  it('one garbled name does not refuse a file in Windows-1252', async () => {
    const names = `${'Müller '.repeat(40)}M¼ller`;
    const inspected = await inspectExport(file(inEncoding(people(names), 'windows-1252')));
    expect(inspected.encoding).toBe('windows-1252');
  });

  it('the warning of a file in Windows-1252 has its letters, which show a wrong reading', async () => {
    const { warnings } = await inspectExport(file(inEncoding(people('Bődi Őri Fűrész'), 'windows-1250')));
    expect(warnings[0]).toContain('its letters are then é, õ, û');
  });

  it.each(['O”Brien', 'Acme™Cloud', '“Ada” „Berg“'])(
    'quotes and signs that a person types make no file another encoding: %s',
    async (name) => {
      const { warnings } = await inspectExport(file(inEncoding(people(name), 'windows-1252')));
      expect(warnings[0]).toContain('the file is read as Windows-1252');
    },
  );

  it('the warning of a file in Windows-1252 without letters beyond a to z lists none', async () => {
    const { warnings } = await inspectExport(file(inEncoding(people('O’Brien'), 'windows-1252')));
    expect(warnings[0]).toBe(
      'line 2 is not UTF-8: the file is read as Windows-1252; if its characters are then wrong, export it as UTF-8 ' +
        'or name the encoding with --encoding NAME',
    );
  });

  it('the encoding of a mapping file is used', async () => {
    const bytes = Buffer.concat([
      Buffer.from(`${header}\nAda,Nov`),
      Buffer.from([0x87]),
      Buffer.from('k,,x\n'),
    ]);
    const inspected = await inspectExport(file(bytes), { mapping: { encoding: 'macintosh' } });
    expect(inspected).toMatchObject({ encoding: 'macintosh', warnings: [] });
  });

  it('an unknown encoding is refused', async () => {
    expect((await refusal(row, { mapping: { encoding: 'utf-9' } })).type).toBe('mapping.encoding');
  });

  it('half a character of UTF-16 at the end of a file is refused', async () => {
    const bytes = utf16(`${header}\n${row}\n`, 'le', true);
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

  it.each([
    ['LF', '\n'],
    ['CRLF', '\r\n'],
    ['CR', '\r'],
  ])('%s ends lines', async (lineEnds, end) => {
    expect(await inspectExport(file([header, row, ''].join(end)))).toMatchObject({
      lineEnds,
      header: ['First Name', 'Last Name', 'Email', 'Company'],
    });
  });

  it('a file with CR beside LF gets a warning', async () => {
    const inspected = await inspectExport(file(`${header}\r${row}\n${row}\r\n`));
    expect(inspected.lineEnds).toBe('mixed');
    expect(inspected.warnings).toHaveLength(1);
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

  it('the header is the line of interface names if labels stand above it', async () => {
    const text =
      'First Name,Last Name,Email,Company\nFirstName,LastName,Email,Company\nAda,Novak,a@x.example,Orbit\n';
    expect((await inspectExport(file(text))).header[0]).toBe('FirstName');
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
    expect(problem.message).toBe('the header has 2 columns, but the lines below it have 3');
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
