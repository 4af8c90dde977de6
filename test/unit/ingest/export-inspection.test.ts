import { chmodSync } from 'node:fs';
import { dirname } from 'node:path';
import { inspect } from 'node:util';
import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { Problem } from '../../../src/domain/problem.ts';
import { readBytes } from '../../../src/ingest/reading/export-bytes.ts';
import { openExport, type ReadingOptions } from '../../../src/ingest/reading/open-export.ts';
import { exportFiles, inEncoding } from '../../helpers/exports/export-file.ts';
import { recordedMapping, type Field } from '../../../src/ingest/columns/fields.ts';

/** How an export is read. */
interface InspectedExport {
  readonly encoding: string;
  readonly delimiter: string;
  readonly newline: string;
  readonly header: readonly string[];
  /** The recognised CRM, or the given name. */
  readonly source: string;
  /** Raw header → field. */
  readonly mapping: Readonly<Record<string, Field>>;
  /** Unused columns. */
  readonly warnings: readonly string[];
}

/** Reads an export as the product does before staging: encoding, dialect, source and the fields of its columns. */
async function inspectExport(path: string, options: ReadingOptions = {}): Promise<InspectedExport> {
  const { file, layout, columns, warnings } = await openExport(path, options);
  return {
    encoding: file.encoding,
    delimiter: layout.dialect.delimiter,
    newline: layout.dialect.newline,
    header: layout.header,
    source: columns.source,
    mapping: recordedMapping(layout.header, columns),
    warnings,
  };
}

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

  it('no message, log or JSON has the cells of a refused file, unless a person asks for them', async () => {
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

describe('long files', () => {
  it('a quote that never closes is refused with its line, even far below the header', async () => {
    const text = `${header}\n${`${row}\n`.repeat(30_000)}Ada,Novak,"a@orbit.example,Orbit\n${row}\n`;
    expect(await refusal(text)).toMatchObject({
      type: 'export.unclosed-quote',
      where: expect.stringMatching(/, line 30002$/),
      exitCode: 2,
    });
  });

  it('a header that does not end is refused, and not cut off', async () => {
    const names = Array.from({ length: 70_000 }, (_, column) => `field ${column}`).join(',');
    expect(await refusal(`Email,${names}\na@x.example${',1'.repeat(70_000)}\n`)).toMatchObject({
      type: 'export.header-too-long',
      where: expect.stringMatching(/, line 1$/),
    });
  });
});

describe('what is no CSV is refused by what it is', () => {
  it('an old Excel workbook is refused by its kind', async () => {
    const problem = await refusal(Buffer.from('d0cf11e0a1b11ae1', 'hex'));
    expect(problem.message).toContain('an old Excel workbook (xls)');
  });

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
