import { styleText } from 'node:util';
import stringWidth from 'string-width';
import { formatNumber, minuteOf, visible, visibleInLine } from '../../domain/text/format.ts';

/** Makes a text ready to write: control characters visible, and on a terminal "error:" and "warning:" in colour. */
export function rendered(text: string, stream: NodeJS.WriteStream): string {
  return visible(text).replace(
    /^((?:\d\d:\d\d:\d\d )?)(error:|warning:)/gm,
    (_, time: string, word: string) =>
      time + styleText(word === 'error:' ? 'red' : 'yellow', word, { stream }),
  );
}

/** The width of lines on a terminal, in columns. Lines in files and pipes have no limit. */
function terminalWidth(stream: NodeJS.WriteStream): number {
  return stream.isTTY ? stream.columns || 80 : Number.POSITIVE_INFINITY;
}

const decimal = /^-?[\d,]+(\.\d+)?%?$/;
const gap = '  ';

type Cell = string | number;

/** Formats rows in columns: text aligned to the left, numbers to the right. @param rows false: left out */
export function table(rows: readonly (readonly Cell[] | false)[]): string {
  const cells = rows.filter((row) => row !== false).map((row) => row.map(shownCell));
  const widths = columnWidths(cells);
  return cells
    .map((row) => gap + row.map((cell, column) => padded(cell, widths[column]!)).join(gap))
    .map((line) => line.trimEnd())
    .join('\n');
}

/**
 * Formats records as a table with a heading, or as a list of fields for each record if the columns do not fit the
 * terminal, as psql does with `\x auto`.
 */
export function recordTable(
  names: readonly string[],
  records: readonly (readonly Cell[])[],
  width = terminalWidth(process.stdout),
): string {
  const widths = columnWidths([names, ...records].map((row) => row.map(shownCell)));
  const needed = widths.reduce((sum, each) => sum + gap.length + each, 0);
  if (needed <= width || records.length === 0) return table([names, ...records]);
  return records
    .map((record, index) => {
      const fields = names.map((name, column) => [name, shownCell(record[column] ?? '')] as const);
      return `row ${index + 1}\n${labelled(fields)}`;
    })
    .join('\n');
}

/** A line for each pair of a label and a value. */
export function labelled(pairs: readonly (readonly [label: string, value: string])[]): string {
  const [width = 0] = columnWidths(pairs.map(([label]) => [label]));
  return pairs
    .map(([label, value]) => `${gap}${padded(label, width)}${gap}${visibleInLine(value)}`.trimEnd())
    .join('\n');
}

/** The fields of a JSON output as a list for the operator. */
export function describeFields(facts: object): string {
  return labelled(
    Object.entries(facts).map(([name, value]: [string, unknown]) => [titleOf(name), shownValue(value)]),
  );
}

/** Records of a JSON output as a table with these fields; default: those of the first record. */
export function listTable<Facts extends object>(
  records: readonly Facts[],
  columns: readonly (keyof Facts & string)[] = Object.keys(records[0] ?? {}) as (keyof Facts & string)[],
): string {
  return recordTable(
    columns.map(titleOf),
    records.map((record) => columns.map((column) => shownValue(record[column]))),
  );
}

function titleOf(name: string): string {
  return name.replaceAll('_', ' ');
}

function shownValue(value: unknown): string {
  if (value === null || value === undefined || value === '') return '-';
  if (typeof value === 'boolean') return value ? 'yes' : 'no';
  if (typeof value === 'number') return formatNumber(value);
  if (value instanceof Date) return `${minuteOf(value)} UTC`;
  if (Array.isArray(value)) return value.map(shownValue).join(', ');
  return typeof value === 'string' ? value : JSON.stringify(value);
}

function shownCell(cell: Cell): string {
  return visibleInLine(typeof cell === 'number' ? formatNumber(cell) : cell);
}

/** In terminal columns, of which a Chinese character takes two. */
function columnWidths(rows: readonly (readonly string[])[]): number[] {
  const widths: number[] = [];
  for (const row of rows)
    for (const [column, cell] of row.entries())
      widths[column] = Math.max(widths[column] ?? 0, stringWidth(cell));
  return widths;
}

function padded(text: string, width: number): string {
  const spaces = ' '.repeat(Math.max(0, width - stringWidth(text)));
  return decimal.test(text) ? spaces + text : text + spaces;
}
