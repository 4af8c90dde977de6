import { UsageProblem, type Problem } from '../../../domain/problem.ts';
import { byteText, type ByteText } from './byte-text.ts';
import { readBytes } from './file-bytes.ts';
import type { SurveyedExport } from './survey.ts';

/**
 * Reads the text of a surveyed file in pieces, without a byte order mark.
 *
 * @param line returns the number of the current line, for the error
 * @throws Problem `export.encoding`, `export.unreadable`
 */
export async function* readText(
  file: SurveyedExport,
  line: () => number,
  signal?: AbortSignal,
): AsyncGenerator<string> {
  const decoder = new TextDecoder(file.encoding, { fatal: true });
  // Always as a stream: Node 20 decodes windows-1252 in a whole buffer as latin1.
  const decode = (bytes: Buffer | undefined): string => {
    try {
      return bytes === undefined ? decoder.decode() : decoder.decode(bytes, { stream: true });
    } catch (error) {
      throw invalidText(file, line(), error);
    }
  };
  for await (const bytes of readBytes(file.path, file.gzip, signal)) {
    const text = decode(bytes);
    if (text !== '') yield text;
  }
  const rest = decode(undefined);
  if (rest !== '') yield rest;
}

/**
 * Reads the same text as UTF-8 bytes. Bytes of a file that the survey has found to be UTF-8 are not checked again:
 * `refuseChange` notices at the end if the file has changed.
 */
export async function* readByteText(
  file: SurveyedExport,
  line: () => number,
  signal?: AbortSignal,
): AsyncGenerator<ByteText> {
  if (file.encoding !== 'utf-8') {
    for await (const text of readText(file, line, signal)) yield byteText(Buffer.from(text));
    return;
  }
  let begun = false;
  for await (const bytes of readBytes(file.path, file.gzip, signal)) {
    yield byteText(begun ? bytes : withoutMark(bytes));
    begun = true;
  }
}

function withoutMark(bytes: Buffer): Buffer {
  return bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf ? bytes.subarray(3) : bytes;
}

/** The bytes are not valid in the encoding. */
function invalidText(file: SurveyedExport, line: number, cause: unknown): Problem {
  return new UsageProblem('export.encoding', `the file is not valid ${file.encoding}`, {
    where: `${file.path}, near line ${line}`,
    next: 'export it as UTF-8, or name its encoding with --encoding NAME, such as windows-1252',
    cause,
  });
}
