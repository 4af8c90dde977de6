import { isUtf8 } from 'node:buffer';
import { UsageProblem, type Problem } from '../../domain/problem.ts';
import { readBytes, readFileHead, refuseUnreadableFormat } from './export-bytes.ts';

export type EncodedFile = Awaited<ReturnType<typeof findEncoding>>;

/** Finds the encoding: given, by UTF-16's byte order mark, or UTF-8. @throws Problem `mapping.encoding`, `export.*` */
export async function findEncoding(path: string, given: string | undefined) {
  const { head, gzip } = await readFileHead(path);
  refuseUnreadableFormat(path, head);
  if (given !== undefined) return { path, gzip, encoding: checkedEncoding(given), isGiven: true };
  const mark = head.subarray(0, 2).toString('hex');
  const encoding = mark === 'fffe' ? 'utf-16le' : mark === 'feff' ? 'utf-16be' : 'utf-8';
  if (encoding === 'utf-8') refuseControls(path, head);
  return { path, gzip, encoding, isGiven: false };
}

/** Returns the standard name of an encoding. @throws UsageProblem `mapping.encoding` */
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

/** Refuses a file of which a tenth are control characters. Text may contain a few of them. */
function refuseControls(path: string, head: Buffer): void {
  const controls = head.reduce((count, byte) => count + (byte < 9 || (byte > 13 && byte < 32) ? 1 : 0), 0);
  if (head.length < 20 || controls < head.length / 10) return;
  const what = 'this is no text file, or it is UTF-16 without a byte order mark';
  throw new UsageProblem('export.not-csv', what, {
    where: path,
    next: 'export the contacts as CSV in UTF-8; a file in UTF-16 is read with --encoding utf-16le or utf-16be',
  });
}

/** Reads text without byte order mark. Bytes for `onBytes` are valid until it returns. @throws Problem `export.*` */
export async function* readText(
  file: EncodedFile,
  signal?: AbortSignal,
  onBytes: (bytes: Buffer) => void = () => {},
): AsyncGenerator<string> {
  const decoder = new TextDecoder(file.encoding, { fatal: true });
  const decode = async (bytes?: Buffer): Promise<string> => {
    try {
      // The decoder always reads a stream: Node.js 20 decodes windows-1252 in a whole buffer as latin1.
      return bytes === undefined ? decoder.decode() : decoder.decode(bytes, { stream: true });
    } catch (error) {
      throw await wrongEncoding(file, error);
    }
  };
  for await (const bytes of readBytes(file.path, file.gzip, signal)) {
    onBytes(bytes);
    const text = await decode(bytes);
    if (text !== '') yield text;
  }
  const rest = await decode();
  if (rest !== '') yield rest;
}

/** Makes the error for a file that is not valid in its encoding. Cells that are not UTF-8 are shown as Windows-1252. */
async function wrongEncoding(file: EncodedFile, cause: unknown): Promise<Problem> {
  const { path, encoding, isGiven } = file;
  if (isGiven || encoding !== 'utf-8')
    return new UsageProblem('export.encoding', `the file is not valid ${encoding}`, {
      where: path,
      next: 'export it again as UTF-8, or name its encoding with --encoding NAME',
      cause,
    });
  const cells = await foreignCells(file);
  return new UsageProblem('export.encoding', 'the file is not UTF-8', {
    where: cells[0] ? `${path}, line ${cells[0].line}` : path,
    next:
      'if it is Windows-1252, as old versions of Excel write it: --encoding windows-1252; otherwise export it again ' +
      'as UTF-8, or name its encoding, such as --encoding windows-1250, macintosh or shift_jis',
    cells: cells.map(({ line, text }) => `line ${line}, as Windows-1252: ${text}`),
    cause,
  });
}

/** Maximum number of cells in an error, and characters of each. */
const shownCells = 3;
const shownCharacters = 60;
const longestLine = 1_000_000;

/**
 * Returns the first cells that are not UTF-8. Latin-1 keeps each byte as a character, so lines and cells can be split.
 */
async function foreignCells({ path, gzip }: EncodedFile): Promise<{ line: number; text: string }[]> {
  const found: { line: number; text: string }[] = [];
  let line = 0;
  let rest = '';
  const search = (cells: string): void => {
    line += 1;
    for (const cell of cells.split(/[,;\t|]/)) {
      const foreign = Buffer.from(cell, 'latin1');
      if (isUtf8(foreign)) continue;
      const text = new TextDecoder('windows-1252').decode(foreign, { stream: true });
      found.push({ line, text: text.trim().slice(0, shownCharacters) });
    }
  };
  for await (const bytes of readBytes(path, gzip)) {
    const lines = (rest + bytes.toString('latin1')).split('\n');
    rest = lines.pop()!;
    for (const each of lines) search(each);
    if (found.length >= shownCells || rest.length > longestLine) break;
  }
  search(rest);
  return found.slice(0, shownCells);
}
