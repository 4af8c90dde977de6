import { styleText } from 'node:util';
import stringWidth from 'string-width';
import { formatNumber, visible, visibleInLine } from '../../domain/text/format.ts';

/** Makes a text ready to write: control characters visible, and on a terminal "error:" and "warning:" in colour. */
export function rendered(text: string, stream: NodeJS.WriteStream): string {
  return visible(text).replace(
    /^((?:\d\d:\d\d:\d\d )?)(error:|warning:)/gm,
    (_, time: string, word: string) =>
      time + styleText(word === 'error:' ? 'red' : 'yellow', word, { stream }),
  );
}

/** The width of lines on a terminal, in columns. Lines in files and pipes have no limit. */
export function terminalWidth(stream: NodeJS.WriteStream): number {
  return stream.isTTY ? stream.columns || 80 : Number.POSITIVE_INFINITY;
}

/**
 * Breaks long lines of a text between words, and indents the continuation by two more columns. A long word, such as an
 * address, stays whole, so that the user can copy it.
 */
export function wrapLines(text: string, width: number): string {
  return text
    .split('\n')
    .flatMap((line) => {
      if (stringWidth(line) <= width) return [line];
      const indent = /^ */.exec(line)![0];
      const hanging = `${indent}  `;
      return brokenLines(line.slice(indent.length), width - hanging.length).map(
        (each, at) => (at === 0 ? indent : hanging) + each,
      );
    })
    .join('\n');
}

/**
 * Breaks the paragraphs of a help text that do not fit a width. Indented lines, such as examples and options, stay as
 * they are, because commander has wrapped them.
 */
export function wrapHelp(text: string, width: number): string {
  return text.replace(/(?:^[^ \n].*(?:\n(?=[^ \n]))?)+/gm, (paragraph) => {
    const lines = paragraph.split('\n');
    const fits = lines.every((line) => stringWidth(line) <= width);
    return fits ? paragraph : brokenLines(lines.join(' '), width).join('\n');
  });
}

function brokenLines(text: string, width: number): string[] {
  const lines: string[] = [];
  for (const word of text.split(' ')) {
    const last = lines.at(-1);
    if (last !== undefined && stringWidth(`${last} ${word}`) <= width)
      lines[lines.length - 1] = `${last} ${word}`;
    else lines.push(word);
  }
  return lines;
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

/** The fields of a JSON output as a list for a person. Fields without a value are left out. */
export function describeFields(facts: object): string {
  return labelled(
    Object.entries(facts).flatMap(([name, value]: [string, unknown]) =>
      value === null ? [] : [[name.replaceAll('_', ' '), shownValue(value)]],
    ),
  );
}

function shownValue(value: unknown): string {
  if (typeof value === 'boolean') return value ? 'yes' : 'no';
  if (value instanceof Date) return value.toISOString();
  return Array.isArray(value) ? value.join(', ') : String(value);
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
