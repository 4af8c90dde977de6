import { createHash } from 'node:crypto';
import { isUtf8 } from 'node:buffer';
import { Problem, UsageProblem } from '../../domain/problem.ts';
import { mapColumns, type ColumnMap } from '../columns/column-map.ts';
import { checkedMapping, type ExportMapping } from '../columns/mapping-file.ts';
import { fileState, hashExport, readBytes, type FileState } from './export-bytes.ts';
import {
  findEncoding,
  InvalidText,
  invalidEncoding,
  readText,
  withEnd,
  type EncodedFile,
} from './export-text.ts';
import { findLayout, refuseRagged, type Layout } from './layout.ts';
import { RecordParser } from './record-parser.ts';
import { SyntaxCheck } from './record-parser.ts';

/** An opened export: everything that is known before its rows are read. */
export interface OpenedExport {
  readonly file: ReadExport;
  readonly layout: Layout;
  readonly columns: ColumnMap;
  /** Rows that lack their last cells are filled with empty ones. */
  readonly fillsShortRows: boolean;
  readonly warnings: readonly string[];
}

/** A file that was read once to its end: its encoding, quotes and line ends are valid. */
export interface ReadExport extends EncodedFile {
  readonly sha256: string;
  readonly state: FileState;
}

export interface ReadingOptions {
  /** Content of a mapping file. */
  readonly mapping?: Readonly<Record<string, unknown>> | undefined;
  /** The source of the contacts, whatever the file looks like. */
  readonly source?: string | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** Enough for any header and the notes above it, and some hundred rows to compare them with. */
const sampleCharacters = 256 * 1024;

/**
 * Reads a file once to its end, and decides how to read it: encoding, delimiter, line ends, header, and the columns of
 * each field. A file with a damaged line is refused here, before a row is staged.
 *
 * @throws Problem `export.*`, `mapping.*` that say where, and what to do
 */
export async function openExport(path: string, options: ReadingOptions): Promise<OpenedExport> {
  const { file, layout, mapping } = await readLayout(path, options);
  const columns = mapColumns(path, layout, { mapping, source: options.source });
  const fillsShortRows = mapping?.short_rows === 'fill';
  refuseRagged(path, layout, fillsShortRows);
  return { file, layout, columns, fillsShortRows, warnings: [...layout.warnings, ...columns.warnings] };
}

/** Encoding, dialect, header and first rows of a file: what is known before its columns are assigned. */
async function readLayout(
  path: string,
  { mapping: given, signal }: ReadingOptions,
): Promise<{ file: ReadExport; layout: Layout; mapping: ExportMapping | undefined }> {
  const mapping = given === undefined ? undefined : checkedMapping(given);
  const state = await fileState(path);
  const file = await findEncoding(path, mapping?.encoding);
  try {
    const { sample, isWhole } = await readSample(file, signal);
    const layout = findLayout(path, sample, isWhole, mapping);
    const sha256 = await readToEnd(file, layout, signal);
    return { file: { ...file, sha256, state }, layout, mapping };
  } catch (error) {
    if (!(error instanceof InvalidText)) throw error;
    if (file.isGiven || file.encoding !== 'utf-8') throw invalidEncoding(file, error.line);
    throw await notUtf8(file, mapping, error.line);
  }
}

async function readSample(
  file: EncodedFile,
  signal: AbortSignal | undefined,
): Promise<{ sample: string; isWhole: boolean }> {
  let sample = '';
  for await (const text of readText(file, signal)) {
    sample += text;
    if (sample.length >= sampleCharacters) return { sample, isWhole: false };
  }
  return { sample, isWhole: true };
}

/** Checks the syntax of the whole text. @returns SHA-256 of the stored bytes, in hexadecimal */
async function readToEnd(
  file: EncodedFile,
  { dialect }: Layout,
  signal: AbortSignal | undefined,
): Promise<string> {
  const hash = createHash('sha256');
  const syntax = new SyntaxCheck(file.path, dialect);
  for await (const text of readText(file, signal, (bytes) => void hash.update(bytes))) syntax.push(text);
  syntax.finish();
  return file.gzip ? (await hashExport(file.path, signal)).sha256 : hash.digest('hex');
}

/** A problem shows so many cells. */
const shownCells = 3;
const shownCharacters = 60;

/**
 * The refusal of a file that is not UTF-8. Shows the first such cells as Windows-1252, by which a person can tell
 * whether that is the encoding.
 *
 * @param line at or above the first such cell
 */
async function notUtf8(
  file: EncodedFile,
  mapping: ExportMapping | undefined,
  line: number,
): Promise<Problem> {
  const found: { readonly line: number; readonly shown: string }[] = [];
  try {
    for await (const cell of foreignCells(file, mapping)) if (found.push(cell) === shownCells) break;
  } catch (error) {
    // The file has another fault too: the line must do.
    if (!(error instanceof Problem)) throw error;
  }
  return new UsageProblem('export.encoding', 'the file is not UTF-8', {
    where: `${file.path}, ${found[0] ? `line ${found[0].line}` : `at line ${line} or below`}`,
    next:
      'if it is Windows-1252, as old versions of Excel write it: --encoding windows-1252; otherwise export it again ' +
      'as UTF-8, or name its encoding, such as --encoding windows-1250, macintosh or shift_jis',
    cells: found.map(({ shown }) => shown),
  });
}

/** Finds cells that are not UTF-8. One character stands for each byte: delimiters, quotes and line ends are ASCII. */
async function* foreignCells(
  { path, gzip }: EncodedFile,
  mapping: ExportMapping | undefined,
): AsyncGenerator<{ readonly line: number; readonly shown: string }> {
  let parser: RecordParser | undefined;
  for await (const bytes of withEnd(readBytes(path, gzip))) {
    const piece = bytes?.toString('latin1') ?? '';
    parser ??= new RecordParser(path, findLayout(path, piece, false, mapping).dialect);
    for (const { cells, line } of parser.parse(piece, bytes === undefined)) {
      for (const [column, cell] of cells.entries()) {
        const foreign = Buffer.from(cell, 'latin1');
        if (isUtf8(foreign)) continue;
        // As a stream: Node 20 decodes windows-1252 in a whole buffer as latin1.
        const text = new TextDecoder('windows-1252').decode(foreign, { stream: true });
        const shown = `line ${line}, column ${column + 1}, as Windows-1252: ${text.slice(0, shownCharacters)}`;
        yield { line, shown };
      }
    }
  }
}

/**
 * Makes problems name the export as the user knows it, if the read file is a downloaded copy.
 *
 * @param path of the copy
 * @param shown the address of the export
 */
export async function namingExport<Result>(
  path: string,
  shown: string,
  work: () => Promise<Result>,
): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof Problem) || !error.where?.startsWith(path) || path === shown) throw error;
    const { type, message, where, next, exitCode, cells } = error;
    throw new Problem(type, message, {
      where: shown + where.slice(path.length),
      next,
      exitCode,
      cells,
      cause: error,
    });
  }
}
