import { Problem } from '../../domain/problem.ts';
import { mapColumns, type ColumnMap } from '../columns/column-map.ts';
import { findLayout, type Layout } from './layout.ts';
import { checkedMapping, type ExportMapping } from '../columns/mapping/mapping-file.ts';
import { readText } from './bytes/read-text.ts';
import { findRowShape, type RowShape } from './damage/row-shape.ts';
import { surveyExport, type SurveyedExport } from './bytes/survey.ts';

/** An opened export: everything that is known before its rows are read. */
export interface OpenedExport {
  readonly survey: SurveyedExport;
  readonly layout: Layout;
  readonly columns: ColumnMap;
  readonly shape: RowShape;
  readonly warnings: readonly string[];
}

export interface ReadingOptions {
  /** Content of a mapping file. */
  readonly mapping?: Readonly<Record<string, unknown>> | undefined;
  /** The source of the contacts, whatever the file looks like. */
  readonly source?: string | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** Enough for any preamble and header that was seen, and some hundred rows to compare them with. */
const sampleCharacters = 256 * 1024;

/**
 * Reads a file once, and decides how to read it: encoding, delimiter, line ends, header, and the columns of each field.
 *
 * @throws Problem `export.*`, `mapping.*` that say where, and what to do
 */
export async function openExport(path: string, options: ReadingOptions): Promise<OpenedExport> {
  const { survey, layout, mapping } = await readLayout(path, options);
  const columns = mapColumns(path, layout, { mapping, source: options.source });
  const shape = findRowShape(path, layout, columns);
  const warnings = [...survey.warnings, ...layout.warnings, ...columns.warnings];
  return { survey, layout, columns, shape, warnings };
}

/** Encoding, dialect, header and first rows of a file: what is known before its columns are assigned. */
export async function readLayout(
  path: string,
  options: ReadingOptions,
): Promise<{ survey: SurveyedExport; layout: Layout; mapping: ExportMapping | undefined }> {
  const mapping = options.mapping === undefined ? undefined : checkedMapping(options.mapping);
  const survey = await surveyExport(path, mapping?.encoding, options.signal);
  const { sample, whole } = await readSample(survey, options.signal);
  return { survey, layout: findLayout(path, sample, whole, mapping), mapping };
}

async function readSample(
  survey: SurveyedExport,
  signal: AbortSignal | undefined,
): Promise<{ sample: string; whole: boolean }> {
  let sample = '';
  for await (const text of readText(survey, () => 1, signal)) {
    sample += text;
    if (sample.length >= sampleCharacters) return { sample, whole: false };
  }
  return { sample, whole: true };
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
    const { type, message, where, next, exitCode } = error;
    throw new Problem(type, message, {
      where: shown + where.slice(path.length),
      next,
      exitCode,
      cause: error,
    });
  }
}
