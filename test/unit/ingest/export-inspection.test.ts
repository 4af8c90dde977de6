import { chmodSync } from 'node:fs';
import { dirname } from 'node:path';
import { inspect } from 'node:util';
import { gzipSync } from 'node:zlib';
import { expect, it } from 'vitest';
import { Problem } from '../../../src/domain/problem.ts';
import { readBytes } from '../../../src/ingest/reading/export-bytes.ts';
import { openExport, type ReadingOptions } from '../../../src/ingest/reading/open-export.ts';
import { exportFiles } from '../../helpers/exports/export-file.ts';

const file = exportFiles();
const header = 'First Name,Last Name,Email,Company';
const row = 'Ada,Novák,ada@orbit.example,Orbit';

/** Returns the problem with which openExport() refuses a file. */
async function refusal(content: string | Uint8Array, options: ReadingOptions = {}): Promise<Problem> {
  return refusalOf(file(content), options);
}

async function refusalOf(path: string, options: ReadingOptions = {}): Promise<Problem> {
  const refused = await openExport(path, options).catch((error: unknown) => error);
  expect(refused).toBeInstanceOf(Problem);
  return refused as Problem;
}

const utf16 = (text: string): Buffer => Buffer.from(text, 'utf16le');

it.each([
  ['utf-8', Buffer.from(`${header}\n${row}\n`)],
  ['utf-8', Buffer.from(`\ufeff"First Name",Last Name,Email,Company\n${row}\n`)],
  ['utf-16le', utf16(`\ufeff${header}\n${row}\n`)],
  ['utf-16be', utf16(`\ufeff${header}\n${row}\n`).swap16()],
  ['utf-8', gzipSync(`${header}\n${row}\n`)],
])('the encoding %s of a file is recognised (case %#)', async (encoding, bytes) => {
  const opened = await openExport(file(bytes), {});
  expect(opened).toMatchObject({ file: { encoding }, warnings: [] });
  expect(opened.layout.header).toEqual(['First Name', 'Last Name', 'Email', 'Company']);
});

it('a file that is not UTF-8 is refused; the error shows its first unreadable cells, logs do not', async () => {
  const plain = 'Ada,Novák,ada@orbit.example,"Orbit\nLtd"\n\n'.repeat(20_000);
  const foreign = `Ada,Müller,a@orbit.example,Größe\nÓscar,Núñez,o@orbit.example,Orbit`;
  const start = Buffer.from(`Contacts\n${header}\n${plain}`);
  const problem = await refusal(Buffer.concat([start, Buffer.from(foreign, 'latin1')]));
  expect(problem).toMatchObject({ type: 'export.encoding', exitCode: 2 });
  expect(problem.where).toMatch(/, line 60003$/);
  expect(problem.next).toContain('--encoding windows-1252');
  expect(problem.cells).toEqual([
    'line 60003, as Windows-1252: Müller',
    'line 60003, as Windows-1252: Größe',
    'line 60004, as Windows-1252: Óscar',
  ]);
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

it.each([
  ['windows-1252', 'Müller – Weiß', 'M\xfcller \x96 Wei\xdf'],
  ['shift_jis', '山田太郎', '\x8eR\x93c\x91\xbe\x98Y'],
])('a file in %s is read if a mapping file names the encoding', async (encoding, name, asBytes) => {
  const bytes = Buffer.from(`${header}\nAda,${asBytes},ada@orbit.example,Orbit\n`, 'latin1');
  expect((await refusal(bytes)).type).toBe('export.encoding');
  const { layout } = await openExport(file(bytes), { mapping: { encoding } });
  expect(layout.rows[0]![1]).toBe(name);
});

it('a file in UTF-16 without a byte order mark is refused, unless a mapping file names the encoding', async () => {
  const bytes = utf16(`${header}\n${row}\n`);
  expect(await refusal(bytes)).toMatchObject({
    type: 'export.not-csv',
    next: expect.stringContaining('--encoding utf-16le'),
  });
  const opened = await openExport(file(bytes), { mapping: { encoding: 'utf-16le' } });
  expect(opened.file.encoding).toBe('utf-16le');
});

it.each([
  [
    'bytes that the given encoding does not have',
    'shift_jis',
    Buffer.from(`${header}\nAda,\xff\n`, 'latin1'),
  ],
  ['half a character at the end', undefined, utf16(`\ufeff${header}\n${row}\n`).subarray(0, -1)],
])('a file with %s is refused', async (_, encoding, bytes) => {
  expect(await refusal(bytes, { mapping: { encoding } })).toMatchObject({
    type: 'export.encoding',
    cells: [],
  });
});

it('a quote that never closes is refused with its line number, even far below the header', async () => {
  const text = `${header}\n${`${row}\n`.repeat(30_000)}Ada,Novak,"a@orbit.example,Orbit\n${row}\n`;
  expect(await refusal(text)).toMatchObject({
    type: 'export.unclosed-quote',
    where: expect.stringMatching(/, line 30002$/),
    exitCode: 2,
  });
});

it('a header of 70,000 columns is refused because it is too long', async () => {
  const names = Array.from({ length: 70_000 }, (_, column) => `field ${column}`).join(',');
  expect(await refusal(`Email,${names}\na@x.example${',1'.repeat(70_000)}\n`)).toMatchObject({
    type: 'export.no-header',
    message: expect.stringMatching(/^the header does not end within /),
  });
});

it.each([
  ['export.not-csv', Buffer.from('d0cf11e0a1b11ae1', 'hex')],
  ['export.not-csv', gzipSync('%PDF-1.7')],
  ['export.not-csv', Buffer.from(Array.from({ length: 500 }, (_, n) => n % 32))],
  ['export.empty', gzipSync('')],
  ['export.gzip-damaged', gzipSync(`${header}\n${row}\n`).subarray(0, -9)],
])('a file that is no export is refused as %s (case %#)', async (type, content) => {
  expect((await refusal(content)).type).toBe(type);
});

it('a gzip file that unpacks to far more than the allowed size is refused', async () => {
  const path = file(gzipSync('a'.repeat(1_000_000)));
  const unpack = async (most: number): Promise<number> => {
    let bytes = 0;
    for await (const piece of readBytes(path, true, undefined, most)) bytes += piece.length;
    return bytes;
  };
  expect(await unpack(1_000_000)).toBe(1_000_000);
  await expect(unpack(999_999)).rejects.toMatchObject({ type: 'export.too-large', exitCode: 2 });
});

it('a missing file and a folder are refused', async () => {
  expect((await refusalOf('/nowhere/contacts.csv')).type).toBe('export.missing');
  expect((await refusalOf(dirname(file(header)))).type).toBe('export.not-a-file');
});

it.skipIf(process.getuid?.() === 0)('an unreadable file is refused', async () => {
  const path = file(header);
  chmodSync(path, 0);
  expect((await refusalOf(path)).type).toBe('export.not-permitted');
});
