import { createHash } from 'node:crypto';
import { Problem } from '../../domain/problem.ts';
import { mapColumns } from '../columns/column-map.ts';
import { requireValidMapping, type ExportMapping } from '../columns/mapping-file.ts';
import { fileState, hashExport } from './export-bytes.ts';
import { findEncoding, readText, type EncodedFile } from './export-text.ts';
import { findLayout } from './layout.ts';

/** An opened export, which was read to its end once, so its encoding, quotes and line ends are valid. */
export type OpenedExport = Awaited<ReturnType<typeof openExport>>;

export interface ReadingOptions {
  readonly mapping?: Readonly<Record<string, unknown>> | undefined;
  readonly source?: string | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** Size of the sample that contains any header, notes above it, and some hundred rows. */
const sampleCharacters = 256 * 1024;

/** Reads a file to its end, to refuse a damaged line before staging. @throws Problem `export.*`, `mapping.*` */
export async function openExport(path: string, options: ReadingOptions) {
  const { signal, source } = options;
  const mapping = options.mapping && requireValidMapping(options.mapping);
  const state = await fileState(path);
  const encoded = await findEncoding(path, mapping?.encoding);
  const { layout, sha256 } = await readToEnd(encoded, mapping, signal);
  const columns = mapColumns(path, layout, { mapping, source });
  return {
    file: { ...encoded, sha256, state },
    layout,
    columns,
    fillsShortRows: mapping?.short_rows === 'fill',
    warnings: [...layout.warnings, ...columns.warnings],
  };
}

/** Finds the layout in the beginning of a text, and checks the syntax of the whole text. */
async function readToEnd(
  file: EncodedFile,
  mapping: ExportMapping | undefined,
  signal: AbortSignal | undefined,
) {
  const hash = createHash('sha256');
  let sample = '';
  let found: ReturnType<typeof findLayout> | undefined;
  for await (const text of readText(file, signal, (bytes) => void hash.update(bytes))) {
    if (found) {
      found.syntax.push(text);
      continue;
    }
    sample += text;
    if (sample.length >= sampleCharacters) found = findLayout(file.path, sample, false, mapping);
  }
  const { layout, syntax } = found ?? findLayout(file.path, sample, true, mapping);
  syntax.finish();
  return { layout, sha256: file.gzip ? await hashExport(file.path, signal) : hash.digest('hex') };
}

/** Makes errors about a downloaded copy (`path`) name the original export (`shown`). */
export async function withOriginalName<Result>(
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
