import { describe, expect, it } from 'vitest';
import type { Problem } from '../../../src/domain/problem.ts';
import { encodeText } from '../../../src/ingest/reading/bytes/byte-text.ts';
import { RecordParser } from '../../../src/ingest/reading/records.ts';

const dialect = { delimiter: ',', lineEnds: 'LF' } as const;

function refusal(pieces: readonly string[]): Problem {
  const parser = new RecordParser('contacts.csv', dialect);
  try {
    for (const piece of pieces) parser.parse(encodeText(piece), false);
    parser.parse(encodeText(''), true);
  } catch (error) {
    return error as Problem;
  }
  throw new Error('nothing was refused');
}

describe('an unclosed quote', () => {
  it('an unclosed quote is refused with its line', () => {
    const problem = refusal(['a,b\n1,"two\nlines"\n', '3,4\n5,"six\n7,8\n', '9,10\n']);
    expect(problem.type).toBe('export.unclosed-quote');
    expect(problem.where).toBe('contacts.csv, line 5');
  });

  it('an unclosed quote is refused before the rest of a large file is in memory', () => {
    const line = `${'x'.repeat(99)}\n`.repeat(1_000);
    const pieces = ['a,b\n1,"two\n', ...Array.from({ length: 60 }, () => line)];
    expect(refusal(pieces).where).toBe('contacts.csv, line 2');
  });

  it('a quote is not said to be never closed if only the part that was read does not close it', () => {
    const { message } = refusal([
      'a,b\n1,"',
      ...Array.from({ length: 60 }, () => 'x'.repeat(100_000)),
      '"\n',
    ]);
    expect(message).toBe('a quote is opened and not closed within 4,194,304 characters');
  });
});

it('a line without an end is refused', () => {
  expect(refusal(Array.from({ length: 60 }, () => 'x'.repeat(100_000))).type).toBe('export.record-too-long');
});

it('a quote that neither opens nor closes a cell is a character', () => {
  const parser = new RecordParser('contacts.csv', dialect);
  expect(parser.parse(encodeText('1,"the "old" mill"\n2,plain'), true).records).toEqual([
    ['1', 'the "old" mill'],
    ['2', 'plain'],
  ]);
});
