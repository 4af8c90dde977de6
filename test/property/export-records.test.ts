import fc from 'fast-check';
import Papa from 'papaparse';
import { expect, it } from 'vitest';
import { createParser, createSyntaxCheck, type Dialect } from '../../src/ingest/reading/records.ts';

const cell = fc.oneof(
  fc.string({
    unit: fc.constantFrom('a', 'é', ' ', ',', ';', '"', '\n', '\r\n', '\u0000', '🜁'),
    maxLength: 8,
  }),
  fc.constantFrom('', '00042', '=1+1', '"', '__proto__'),
);
const width = 3;
const records = fc.array(fc.array(cell, { minLength: width, maxLength: width }), {
  minLength: 1,
  maxLength: 20,
});
const lineEnds = fc.constantFrom('\n', '\r\n');
const delimiter = fc.constantFrom(',', ';', '\t');
const cuts = fc.array(fc.nat(400), { maxLength: 6 });

/** Splits a text at these positions, also between the two halves of a character. */
function piecesOf(text: string, places: readonly number[]): string[] {
  const ends = places.map((place) => place % (text.length + 1)).sort((left, right) => left - right);
  return [...ends, text.length].map((end, index) => text.slice(ends[index - 1] ?? 0, end));
}

function parseInPieces(dialect: Dialect, pieces: readonly string[]): string[][] {
  const syntax = createSyntaxCheck('contacts.csv', dialect);
  const parse = createParser('contacts.csv', dialect);
  const read = pieces.flatMap((piece) => {
    syntax.push(piece);
    return parse(piece, false);
  });
  syntax.finish();
  read.push(...parse('', true));
  return read.filter((record) => record.length > 1);
}

it('records are read as they were written, wherever the text is split into chunks', () => {
  fc.assert(
    fc.property(records, lineEnds, delimiter, cuts, fc.boolean(), (written, end, sign, at, isClosed) => {
      // CSV cannot distinguish a cell that ends with CR from a line end CRLF, so such cells are left out.
      const text =
        Papa.unparse(written, { delimiter: sign, newline: end, quotes: true }) + (isClosed ? end : '');
      expect(parseInPieces({ delimiter: sign }, piecesOf(text, at))).toEqual(written);
    }),
    { numRuns: 500 },
  );
});

interface Damage {
  readonly name: string;
  readonly text: string;
  readonly type: string;
  readonly line: number;
}

const damages: readonly Damage[] = [
  {
    name: 'a quote that never closes',
    text: 'a,b\n1,"x\ny"\n2,"z\n3,w\n',
    type: 'export.unclosed-quote',
    line: 4,
  },
  { name: 'a quote inside of a cell', text: 'a,b\n1,x\n2,5" pipe\n', type: 'export.quote', line: 3 },
  { name: 'text behind a quote', text: 'a,b\n1,"x\ny"z\n', type: 'export.quote', line: 3 },
  { name: 'a blank behind a quote', text: 'a,b\r\n"1" ,x\r\n', type: 'export.quote', line: 2 },
  { name: 'a CR alone among LF', text: 'a,b\n1,"x\r"\n2,y\r3,z\n', type: 'export.line-ends', line: 3 },
];

it('damaged text is refused with the same error type and line, wherever the text is split into chunks', () => {
  fc.assert(
    fc.property(fc.constantFrom(...damages), cuts, ({ text, type, line }, at) => {
      expect(() => parseInPieces({ delimiter: ',' }, piecesOf(text, at))).toThrow(
        expect.objectContaining({ type, where: `contacts.csv, line ${line}` }),
      );
    }),
    { numRuns: 300 },
  );
});

it('a record that never ends is refused before the rest of a large file is in memory', () => {
  const pieces = ['a,b\n1,', ...Array.from({ length: 60 }, () => 'x'.repeat(100_000))];
  expect(() => parseInPieces({ delimiter: ',' }, pieces)).toThrow(
    expect.objectContaining({ type: 'export.record-too-long', where: 'contacts.csv, record 2 from the top' }),
  );
});

it('a quote is an ordinary character if the mapping file says that cells are not quoted', () => {
  const read = parseInPieces({ delimiter: ',', quotes: 'none' }, ['1,5" pipe\n2,"x\n']);
  expect(read).toEqual([
    ['1', '5" pipe'],
    ['2', '"x'],
  ]);
});
