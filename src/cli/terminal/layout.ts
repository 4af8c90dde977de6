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

const decimal = /^-?[\d,]+(\.\d+)?%?$/;
const gap = '  ';

/** Formats rows in columns: text aligned to the left, columns of numbers to the right. @param rows false: left out */
export function table(rows: readonly (readonly (string | number)[] | false)[]): string {
  const cells = rows
    .filter((row) => row !== false)
    .map((row) => row.map((cell) => visibleInLine(typeof cell === 'number' ? formatNumber(cell) : cell)));
  // In terminal columns, of which a Chinese character takes two.
  const widths: number[] = [];
  for (const row of cells)
    for (const [column, cell] of row.entries())
      widths[column] = Math.max(widths[column] ?? 0, stringWidth(cell));
  // The first row can be a heading.
  const areNumbers = widths.map((_, column) =>
    cells.slice(1).every((row) => decimal.test(row[column] ?? '0')),
  );
  const padded = (cell: string, column: number): string => {
    const spaces = ' '.repeat(widths[column]! - stringWidth(cell));
    return areNumbers[column] && decimal.test(cell) ? spaces + cell : cell + spaces;
  };
  return cells.map((row) => (gap + row.map(padded).join(gap)).trimEnd()).join('\n');
}

/** The fields of a JSON output as a list for the operator: names and values. */
export function describeFields(facts: object): string {
  return table(
    Object.entries(facts).map(([name, value]: [string, unknown]) => [titleOf(name), shownValue(value)]),
  );
}

/**
 * Records of a JSON output as a table with these fields; default: those of the first record.
 *
 * @param none in place of a table without records
 */
export function listTable<Facts extends object>(
  records: readonly Facts[],
  columns: readonly (keyof Facts & string)[] = Object.keys(records[0] ?? {}) as (keyof Facts & string)[],
  none?: string,
): string {
  if (none !== undefined && records.length === 0) return none;
  return table([
    columns.map(titleOf),
    ...records.map((record) => columns.map((column) => shownValue(record[column]))),
  ]);
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
