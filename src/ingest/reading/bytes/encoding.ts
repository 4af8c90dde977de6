import { isAscii, isUtf8 } from 'node:buffer';
import { UsageProblem } from '../../../domain/problem.ts';
import { Windows1252Words } from './windows-1252.ts';

/** What the bytes of a file turned out to be. */
export interface FoundEncoding {
  /** A label that TextDecoder knows. */
  readonly encoding: string;
  readonly warning?: string;
}

/**
 * Finds the encoding of a file from all of its bytes: a sample would miss the one accented name in row 150,000.
 *
 * Byte order marks and the zero bytes of UTF-16 decide at once. A file that is valid UTF-8 to the end is UTF-8. A file
 * without any character of UTF-8 is read as Windows-1252 with a warning, if all its bytes are characters there and its
 * words can be words. A mixture of both would be garbled in either encoding, and is refused.
 */
export class EncodingDetector {
  readonly #path: string;
  readonly #given: string | undefined;
  #unicode16: string | undefined;
  #begun = false;
  #incomplete = Buffer.alloc(0);
  #sawUtf8 = false;
  #foreignLine: number | undefined;
  /** The line with a byte that is no character in Windows-1252 either. */
  #unknownLine: number | undefined;
  readonly #words = new Windows1252Words();
  /** The line with the first word that can be no word in Windows-1252. */
  #garbledLine: number | undefined;
  #line = 1;

  /** @param given a label that was checked: the detector only sees to it that UTF-8 is valid */
  constructor(path: string, given: string | undefined) {
    this.#path = path;
    this.#given = given;
  }

  /** @param bytes the next piece of the file; kept no longer than the call */
  push(bytes: Buffer): void {
    if (this.#given !== undefined && this.#given !== 'utf-8') return;
    if (!this.#begun && this.#given === undefined) {
      this.#begun = true;
      this.#unicode16 = utf16Of(this.#path, bytes);
      if (this.#unicode16 === undefined) refuseBinary(this.#path, bytes);
    }
    if (this.#unicode16 !== undefined || (this.#foreignLine !== undefined && this.#sawUtf8)) return;
    if (this.#incomplete.length === 0 && isAscii(bytes)) {
      this.#line += countLines(bytes);
      return;
    }
    const joined = this.#incomplete.length === 0 ? bytes : Buffer.concat([this.#incomplete, bytes]);
    const whole = joined.subarray(0, joined.length - incompleteTail(joined));
    this.#incomplete = Buffer.from(joined.subarray(whole.length));
    this.#examine(whole);
  }

  /** @throws Problem `export.mixed-encoding`, `export.encoding` */
  finish(): FoundEncoding {
    if (this.#given !== undefined && this.#given !== 'utf-8') return { encoding: this.#given };
    if (this.#unicode16 !== undefined) return { encoding: this.#unicode16 };
    if (this.#incomplete.length > 0) this.#examine(this.#incomplete);
    if (this.#foreignLine === undefined) return { encoding: 'utf-8' };
    if (this.#given !== undefined) {
      throw new UsageProblem('export.encoding', 'the file is not valid utf-8', {
        where: `${this.#path}, line ${this.#foreignLine}`,
        next: 'leave the encoding out, or name the right one with --encoding NAME',
      });
    }
    const otherLine = this.#unknownLine ?? (this.#words.areGarbled ? this.#garbledLine : undefined);
    if (otherLine !== undefined) {
      throw new UsageProblem('export.encoding', 'the file is neither UTF-8 nor Windows-1252', {
        where: `${this.#path}, line ${otherLine}`,
        next: `export it again as UTF-8 (in Excel "CSV UTF-8", not "CSV (MS-DOS)"); ${nameEncoding}`,
      });
    }
    if (this.#sawUtf8) {
      throw new UsageProblem('export.mixed-encoding', 'some lines of the file are UTF-8 and others are not', {
        where: `${this.#path}, line ${this.#foreignLine}`,
        next: `export it again as UTF-8, or correct that line; ${nameEncoding}`,
      });
    }
    return {
      encoding: 'windows-1252',
      warning:
        `line ${this.#foreignLine} is not UTF-8: the file is read as Windows-1252; ${this.#shownLetters()}, ` +
        'export it as UTF-8 or name the encoding with --encoding NAME',
    };
  }

  #shownLetters(): string {
    const { letters } = this.#words;
    return letters.length === 0
      ? 'if its characters are then wrong'
      : `its letters are then ${letters.join(', ')}; if these are wrong`;
  }

  #examine(bytes: Buffer): void {
    if (isUtf8(bytes)) {
      this.#sawUtf8 ||= !isAscii(bytes);
    } else {
      this.#foreignLine ??= this.#line + countLines(bytes.subarray(0, firstInvalid(bytes)));
      const foreign = withoutUtf8(bytes);
      const unknown = foreign.toString('latin1').search(unknownBytes);
      if (unknown !== -1) this.#unknownLine ??= this.#line + countLines(bytes.subarray(0, unknown));
      const garbled = this.#words.read(foreign);
      if (garbled !== undefined) this.#garbledLine ??= this.#line + countLines(bytes.subarray(0, garbled));
      const decoded = new TextDecoder('utf-8').decode(bytes);
      this.#sawUtf8 ||= /[^\0-\u007f\ufffd]/.test(decoded);
    }
    this.#line += countLines(bytes);
  }
}

const nameEncoding =
  'if all of the file has another encoding, name it with --encoding NAME or in a mapping file, such as windows-1251 ' +
  '(Cyrillic), windows-1250 (Central European), macintosh, shift_jis (Japanese), gb18030 or big5 (Chinese), euc-kr ' +
  '(Korean)';

/**
 * The bytes with a letter for each byte of a UTF-8 character. The rest tells in which encoding the file is: two bytes
 * of East Asian encodings can be a UTF-8 character by chance, and a real one can have bytes that Windows-1252 lacks.
 */
function withoutUtf8(bytes: Buffer): Buffer {
  const text = bytes.toString('latin1').replace(utf8Characters, (found) => 'a'.repeat(found.length));
  return Buffer.from(text, 'latin1');
}

const utf8Characters =
  /[\u00c2-\u00df][\u0080-\u00bf]|[\u00e0-\u00ef][\u0080-\u00bf]{2}|[\u00f0-\u00f4][\u0080-\u00bf]{3}/g;

/** Bytes that are no characters in Windows-1252. */
const unknownBytes = /[\u0081\u008d\u008f\u0090\u009d]/;

/** A label given by hand. @throws Problem `mapping.encoding` */
export function checkedEncoding(label: string): string {
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

function utf16Of(path: string, bytes: Buffer): string | undefined {
  const [first, second] = bytes;
  if (first === 0xff && second === 0xfe) {
    if (bytes[2] !== 0 || bytes[3] !== 0 || bytes.length < 4) return 'utf-16le';
    throw new UsageProblem('export.encoding', 'the file is UTF-32', {
      where: path,
      next: 'save it as UTF-8',
    });
  }
  if (first === 0xfe && second === 0xff) return 'utf-16be';
  // Without a mark: in a header of mostly ASCII every other byte is zero.
  const sample = bytes.subarray(0, 4_096);
  const zeros = [0, 0];
  for (const [index, byte] of sample.entries()) if (byte === 0) zeros[index % 2]! += 1;
  const half = sample.length / 2;
  if (zeros[1]! > half * 0.4 && zeros[0]! < half * 0.05) return 'utf-16le';
  if (zeros[0]! > half * 0.4 && zeros[1]! < half * 0.05) return 'utf-16be';
  return undefined;
}

/** A stray NUL or escape is data; a tenth of control characters is no text. */
function refuseBinary(path: string, bytes: Buffer): void {
  const sample = bytes.subarray(0, 4_096);
  const controls = sample.reduce((count, byte) => count + (byte < 9 || (byte > 13 && byte < 32) ? 1 : 0), 0);
  if (sample.length < 100 || controls < sample.length / 10) return;
  throw new UsageProblem('export.not-csv', 'this is no text file', {
    where: path,
    next: 'export the contacts as CSV and use that file',
  });
}

/** How many bytes at the end begin a UTF-8 character that continues in the next piece: 0 to 3. */
function incompleteTail(bytes: Buffer): number {
  for (let back = 1; back <= Math.min(3, bytes.length); back += 1) {
    const byte = bytes[bytes.length - back]!;
    if (byte >= 0xc0) return back < (byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : 2) ? back : 0;
    if (byte < 0x80) return 0;
  }
  return 0;
}

/** Where the first byte is that no UTF-8 can have there. */
function firstInvalid(bytes: Buffer): number {
  let valid = 0;
  let invalid = bytes.length;
  while (invalid - valid > 1) {
    const middle = (valid + invalid) >> 1;
    const prefix = bytes.subarray(0, middle);
    if (isUtf8(prefix.subarray(0, middle - incompleteTail(prefix)))) valid = middle;
    else invalid = middle;
  }
  return valid;
}

function countLines(bytes: Buffer): number {
  let lines = 0;
  for (let at = bytes.indexOf(10); at !== -1; at = bytes.indexOf(10, at + 1)) lines += 1;
  return lines;
}
