import fc from 'fast-check';
import Papa from 'papaparse';
import { expect, it } from 'vitest';
import { decodeText, encodeText, type ByteText } from '../../src/ingest/reading/bytes/byte-text.ts';
import type { Dialect } from '../../src/ingest/reading/dialect.ts';
import { RecordParser } from '../../src/ingest/reading/records.ts';

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
const lineEnds = fc.constantFrom<[Dialect['lineEnds'], string]>(['LF', '\n'], ['CRLF', '\r\n'], ['CR', '\r']);
const delimiter = fc.constantFrom(',', ';', '\t');
const cuts = fc.array(fc.nat(400), { maxLength: 6 });

/** Cut between any two bytes, also of one character. */
function parseInPieces(dialect: Dialect, text: string, places: readonly number[]): string[][] {
  const bytes = encodeText(text);
  const ends = [
    ...places.map((place) => place % (bytes.length + 1)).sort((left, right) => left - right),
    bytes.length,
  ];
  const parser = new RecordParser('contacts.csv', dialect);
  const read = ends.flatMap((end, index) => {
    const piece = bytes.slice(ends[index - 1] ?? 0, end) as ByteText;
    return parser.parse(piece, false).records;
  });
  read.push(...parser.parse(encodeText(''), true).records);
  return read.filter((record) => record.length > 1).map((record) => record.map(decodeText));
}

it('records are read as they were written, at whatever points the text is split', () => {
  fc.assert(
    fc.property(
      records,
      lineEnds,
      delimiter,
      cuts,
      fc.boolean(),
      (written, [ends, newline], sign, at, closed) => {
        // A cell that ends in CR before a line end is the one thing that CSV cannot say apart.
        const text =
          Papa.unparse(written, { delimiter: sign, newline, quotes: true }) + (closed ? newline : '');
        expect(parseInPieces({ delimiter: sign, lineEnds: ends }, text, at)).toEqual(written);
      },
    ),
    { numRuns: 500 },
  );
});

it('mixed line ends are read as LF, at whatever points the text is split', () => {
  const ends = fc.array(fc.constantFrom('\n', '\r\n', '\r'), { minLength: 20, maxLength: 20 });
  const plain = fc.array(fc.array(fc.stringMatching(/^[a-z]{1,4}$/), { minLength: 2, maxLength: 2 }), {
    minLength: 1,
    maxLength: 20,
  });
  fc.assert(
    fc.property(plain, ends, cuts, (written, endings, at) => {
      const text = written.map((record, index) => record.join(',') + endings[index]!).join('');
      expect(parseInPieces({ delimiter: ',', lineEnds: 'mixed' }, text, at)).toEqual(written);
    }),
  );
});
