import { createHash } from 'node:crypto';
import { Problem } from '../../domain/problem.ts';
import { mapColumns, type ColumnMap } from '../columns/column-map.ts';
import { checkedMapping } from '../columns/mapping-file.ts';
import { fileState, hashExport, type FileState } from './export-bytes.ts';
import { findEncoding, readText, type EncodedFile } from './export-text.ts';
import { findLayout, type Layout } from './layout.ts';
import { SyntaxCheck } from './records.ts';

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
  const { signal, source } = options;
  const mapping = options.mapping && checkedMapping(options.mapping);
  const state = await fileState(path);
  const encoded = await findEncoding(path, mapping?.encoding);
  const { sample, isWhole } = await readSample(encoded, signal);
  const layout = findLayout(path, sample, isWhole, mapping);
  const sha256 = await readToEnd(encoded, layout, signal);
  const columns = mapColumns(path, layout, { mapping, source });
  return {
    file: { ...encoded, sha256, state },
    layout,
    columns,
    fillsShortRows: mapping?.short_rows === 'fill',
    warnings: [...layout.warnings, ...columns.warnings],
  };
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
  return file.gzip ? hashExport(file.path, signal) : hash.digest('hex');
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
