import type { Readable } from 'node:stream';
import type { ExportedType, ParquetColumn } from './parquet.ts';
import { formulaPattern, phonePattern } from '../domain/text/formula.ts';

interface ExportFormat {
  readonly endings: readonly string[];
  readonly isText: boolean;
  /** SQL of a column whose type the format writes in its own way. */
  readonly value: (column: string, type: ExportedType) => string;
  /** SQL around the query of the rows. */
  readonly query: (rows: string) => string;
  /** Options of COPY. */
  readonly copy: string;
  /** The text with which every file of these columns begins. */
  readonly beginning: (columns: readonly ParquetColumn[]) => string;
  /** Converts the output of COPY. Undefined: the output is the file. */
  readonly encode?: (copied: Readable, columns: readonly ParquetColumn[]) => Promise<Readable>;
}

/** SQL with an apostrophe before a text that a spreadsheet would calculate. Phone numbers stay as they are. */
const withoutFormula = (text: string): string =>
  `case when ${text} ~ '${formulaPattern}' and ${text} !~ '${phonePattern}' then '''' || ${text} else ${text} end`;

const spreadsheetValues: { readonly [Type in ExportedType]?: (column: string) => string } = {
  text: withoutFormula,
  'text[]': (column) => withoutFormula(`array_to_string(${column}, '; ')`),
  timestamptz: (column) => `to_char(${column}, 'YYYY-MM-DD"T"HH24:MI:SS"Z"')`,
  boolean: (column) => `${column}::text`,
};

/** Values that `parquet.ts` reads: lists as JSON, times in microseconds and dates in days since 1970. */
const parquetValues: { readonly [Type in ExportedType]?: (column: string) => string } = {
  'text[]': (column) => `to_json(${column})`,
  timestamptz: (column) => `(extract(epoch from ${column}) * 1000000)::bigint`,
  date: (column) => `${column} - date '1970-01-01'`,
};

export const exportFormats = {
  csv: {
    endings: ['csv'],
    isText: true,
    value: (column, type) => spreadsheetValues[type]?.(column) ?? column,
    query: (rows) => rows,
    copy: 'format csv, header true',
    beginning: (columns) => `${columns.map(({ name }) => name).join(',')}\n`,
  },
  jsonl: {
    endings: ['jsonl', 'ndjson'],
    isText: true,
    value: (column, type) =>
      type === 'timestamptz' ? `to_char(${column}, 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')` : column,
    query: (rows) => `select row_to_json(r) from (${rows}) r`,
    // JSON escapes control characters, so these never occur in the output and COPY adds no quotes.
    copy: String.raw`format csv, delimiter E'\x02', quote E'\x01'`,
    beginning: ([first]) => `{"${first!.name}":`,
  },
  parquet: {
    endings: ['parquet'],
    isText: false,
    value: (column, type) => parquetValues[type]?.(column) ?? column,
    query: (rows) => rows,
    copy: 'format text',
    beginning: () => 'PAR1',
    // The library is loaded only for Parquet, because other commands and formats do not need it.
    encode: async (copied, columns) => (await import('./parquet.ts')).encodeParquet(copied, columns),
  },
} as const satisfies Readonly<Record<string, ExportFormat>>;

export type ExportFormatName = keyof typeof exportFormats;

export function formatOfEnding(ending: string): ExportFormatName | undefined {
  return exportFormatNames.find((name) => exportFormats[name].endings.some((each) => each === ending));
}

export const exportFormatNames = Object.keys(exportFormats) as readonly ExportFormatName[];
