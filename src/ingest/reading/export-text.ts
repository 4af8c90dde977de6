import { UsageProblem, type Problem } from '../../domain/problem.ts';
import { readBytes, readHead, refuseForeignKind } from './export-bytes.ts';

/** A file whose encoding is known. */
export interface EncodedFile {
  readonly path: string;
  readonly gzip: boolean;
  /** A label that TextDecoder knows. */
  readonly encoding: string;
  /** The user has named the encoding. */
  readonly isGiven: boolean;
}

/** The bytes of a file are not valid in its encoding. */
export class InvalidText extends Error {
  /** From 1. */
  readonly line: number;

  constructor(line: number, cause: unknown) {
    super('invalid text', { cause });
    this.line = line;
  }
}

/**
 * Finds the encoding of a file: the given one, UTF-16 by its byte order mark, otherwise UTF-8.
 *
 * @param given a label of the user
 * @throws Problem `export.not-csv`, `mapping.encoding`, `export.*` if the file cannot be read
 */
export async function findEncoding(path: string, given: string | undefined): Promise<EncodedFile> {
  const { head, gzip } = await readHead(path);
  refuseForeignKind(path, head);
  if (given !== undefined) return { path, gzip, encoding: checkedEncoding(given), isGiven: true };
  const mark = head.subarray(0, 2).toString('hex');
  const encoding = mark === 'fffe' ? 'utf-16le' : mark === 'feff' ? 'utf-16be' : 'utf-8';
  if (encoding === 'utf-8') refuseControls(path, head);
  return { path, gzip, encoding, isGiven: false };
}

/** A label that the user has written. @throws Problem `mapping.encoding` */
function checkedEncoding(label: string): string {
  try {
    return new TextDecoder(label).encoding;
  } catch (error) {
    throw new UsageProblem('mapping.encoding', `"${label.slice(0, 40)}" is no known encoding`, {
      where: '--encoding, or encoding in the mapping file',
      next: 'write one such as utf-8, utf-16le, windows-1252, iso-8859-2, macintosh, shift_jis or gb18030',
      cause: error,
    });
  }
}

/** A stray NUL or escape is data; a tenth of control characters is no text. */
function refuseControls(path: string, head: Buffer): void {
  const controls = head.reduce((count, byte) => count + (byte < 9 || (byte > 13 && byte < 32) ? 1 : 0), 0);
  if (head.length < 20 || controls < head.length / 10) return;
  throw new UsageProblem(
    'export.not-csv',
    'this is no text file, or it is UTF-16 without a byte order mark',
    {
      where: path,
      next: 'export the contacts as CSV in UTF-8; a file in UTF-16 is read with --encoding utf-16le or utf-16be',
    },
  );
}

/**
 * Reads the text of a file in pieces, without a byte order mark.
 *
 * @param onBytes called with the bytes of each piece, which are valid until it returns
 * @throws InvalidText; Problem `export.unreadable`, `export.gzip-damaged`, `export.too-large`
 */
export async function* readText(
  { path, gzip, encoding }: EncodedFile,
  signal?: AbortSignal,
  onBytes: (bytes: Buffer) => void = () => {},
): AsyncGenerator<string> {
  const decoder = new TextDecoder(encoding, { fatal: true });
  let line = 1;
  const decode = (bytes?: Buffer): string => {
    try {
      // Always as a stream: Node 20 decodes windows-1252 in a whole buffer as latin1.
      const text = bytes === undefined ? decoder.decode() : decoder.decode(bytes, { stream: true });
      line += countCharacter(text, '\n');
      return text;
    } catch (error) {
      throw new InvalidText(line, error);
    }
  };
  for await (const bytes of readBytes(path, gzip, signal)) {
    onBytes(bytes);
    const text = decode(bytes);
    if (text !== '') yield text;
  }
  const rest = decode();
  if (rest !== '') yield rest;
}

/** The pieces, and undefined behind the last. */
export async function* withEnd<Piece>(pieces: AsyncIterable<Piece>): AsyncGenerator<Piece | undefined> {
  yield* pieces;
  yield undefined;
}

/** The text is not valid in an encoding that the user has named, or that a byte order mark names. */
export function invalidEncoding({ path, encoding, isGiven }: EncodedFile, line: number): Problem {
  return new UsageProblem('export.encoding', `the file is not valid ${encoding}`, {
    where: `${path}, at line ${line} or below`,
    next: isGiven
      ? 'omit the encoding, or name the right one with --encoding NAME'
      : 'export it again as UTF-8, or name its encoding with --encoding NAME',
  });
}

/** Counts a character in a text, up to a position. */
export function countCharacter(text: string, character: string, end = text.length): number {
  let count = 0;
  for (let at = text.indexOf(character); at !== -1 && at < end; at = text.indexOf(character, at + 1))
    count += 1;
  return count;
}
