import { visibleInLine } from '../../domain/text/visible.ts';
import { formatNumber } from '../../domain/text/format-number.ts';
import { longest } from '../../domain/text/longest.ts';
import { terminalWidth, wrap } from './wrap.ts';

const decimal = /^-?[\d,]+(\.\d+)?%?$/;
const gap = 2;
/** Columns shrink to this many characters at least. */
const narrowest = 8;
/** Dates, times, numbers and cursors, which mean something else without their middle. */
const unbreakable = /^\d[\d.,:TZ-]*$/;

/**
 * Formats a table: text aligned to the left, numbers to the right. If lines do not fit the terminal, wraps the widest
 * cells between words, and words that are still too long lose their middle.
 *
 * @param rows texts without styles, and numbers; false: left out
 * @param width maximum length of a line, in characters
 */
export function table(
  rows: readonly (readonly (string | number)[] | false)[],
  width = terminalWidth(process.stdout),
): string {
  const cells = rows
    .filter((row) => row !== false)
    .map((row) => row.map((cell) => visibleInLine(typeof cell === 'number' ? formatNumber(cell) : cell)));
  const columns = (cells[0] ?? []).map((_, column) => cells.map((row) => row[column] ?? ''));
  const widths = fittingWidths(columns, width - gap);
  return cells
    .flatMap((row) => linesOf(row, widths))
    .map((line) => `${' '.repeat(gap)}${line}`.trimEnd())
    .join('\n');
}

/**
 * Formats records as a table, or as a list of fields for each record if the columns do not fit the terminal, as psql
 * does with `\x auto`.
 *
 * @param names of the columns
 */
export function recordTable(
  names: readonly string[],
  records: readonly (readonly string[])[],
  width = terminalWidth(process.stdout),
): string {
  const columns = names.map((name, column) =>
    longest([name, ...records.map((record) => record[column] ?? '')]),
  );
  const least = columns.reduce((sum, each) => sum + Math.min(each, narrowest) + gap, 0);
  if (least <= width || records.length === 0) return table([names, ...records], width);
  return records
    .map((record, index) => {
      const fields = names.map((name, column) => [name, record[column] ?? ''] as const);
      return `row ${index + 1}\n${labelled(fields)}`;
    })
    .join('\n');
}

/** The fields of a JSON output as a list for a person. Fields without a value are left out. */
export function describeFields(facts: object): string {
  return labelled(
    Object.entries(facts).flatMap(([name, value]: [string, unknown]) =>
      value === null ? [] : [[name.replaceAll('_', ' '), shownValue(value)]],
    ),
  );
}

/** A line for each pair. No table, which aligns numbers to the right, at the end of the longest text. */
export function labelled(pairs: readonly (readonly [label: string, value: string])[]): string {
  const width = longest(pairs.map(([label]) => label));
  return pairs
    .map(([label, value]) => `  ${label.padEnd(width)}  ${visibleInLine(value)}`.trimEnd())
    .join('\n');
}

function shownValue(value: unknown): string {
  if (typeof value === 'boolean') return value ? 'yes' : 'no';
  if (value instanceof Date) return value.toISOString();
  return Array.isArray(value) ? value.join(', ') : String(value);
}

/** The lines of a row, as many as its highest cell needs. */
function linesOf(row: readonly string[], widths: readonly number[]): string[] {
  const wrapped = row.map((cell, column) => wrap(cell, widths[column]!));
  const height = Math.max(1, ...wrapped.map((lines) => lines.length));
  return Array.from({ length: height }, (_, at) =>
    wrapped.map((lines, column) => padded(lines[at] ?? '', widths[column]!)).join(' '.repeat(gap)),
  );
}

function padded(text: string, width: number): string {
  return decimal.test(text) ? text.padStart(width) : text.padEnd(width);
}

/**
 * Shrinks the widest column first, down to its longest word. If the table is still too wide, words are cut as well.
 */
function fittingWidths(columns: readonly (readonly string[])[], width: number): number[] {
  const widths = columns.map((texts) => longest(texts));
  const words = columns.map((texts) => longest(texts.flatMap((text) => text.split(' '))));
  const least = columns.map((texts) =>
    Math.max(
      narrowest,
      longest(texts.flatMap((text) => text.split(' ').filter((word) => unbreakable.test(word)))),
    ),
  );
  for (const floors of [words, least]) {
    for (;;) {
      const excess = widths.reduce((sum, each) => sum + each + gap, -gap) - width;
      if (excess <= 0) return widths;
      const yielding = widths.map((each, column) => (each > floors[column]! ? each : 0));
      const widest = Math.max(...yielding);
      if (widest === 0) break;
      const column = yielding.indexOf(widest);
      const next = Math.max(...yielding.filter((each) => each < widest), floors[column]!, widest - excess);
      widths[column] = next < widest ? next : widest - 1;
    }
  }
  return widths;
}
