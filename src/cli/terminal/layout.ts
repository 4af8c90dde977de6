import stringWidth from 'string-width';
import { formatNumber, visible, visibleInLine } from '../../domain/text/format.ts';

/**
 * Styled text has a Unicode noncharacter for each style until the text is written. By then `visible` has escaped the
 * control characters of foreign text, so that foreign text cannot style the terminal.
 */
const styles = {
  dim: ['\ufdd1', '2'],
  red: ['\ufdd2', '31'],
  yellow: ['\ufdd3', '33'],
} as const;
const end = '\ufdd0';
const marks = /([\ufdd0-\ufdd3])/g;
const codes = new Map<string, string>([[end, '0'], ...Object.values(styles)]);

/** Styles a text for streams that show styles. Makes control characters visible. */
export function paint(style: keyof typeof styles, text: string): string {
  return `${styles[style][0]}${visible(text)}${end}`;
}

/** Makes a text ready to write: control characters visible, styles as escape sequences or removed. */
export function rendered(text: string, stream: NodeJS.WriteStream): string {
  const { NO_COLOR: refused = '', TERM: terminal } = process.env;
  const shows = stream.isTTY && refused === '' && terminal !== 'dumb';
  return text
    .split(marks)
    .map((part) => {
      const code = codes.get(part);
      if (code === undefined) return visible(part);
      return shows ? `\u001b[${code}m` : '';
    })
    .join('');
}

/** The columns that a text takes on a terminal. A Chinese character takes two, a style none. */
export function widthOf(text: string): number {
  return stringWidth(text.replace(marks, ''));
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
      if (widthOf(line) <= width) return [line];
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
    const fits = lines.every((line) => widthOf(line) <= width);
    return fits ? paragraph : brokenLines(lines.join(' '), width).join('\n');
  });
}

function brokenLines(text: string, width: number): string[] {
  if (widthOf(text) <= width) return [text];
  const lines: string[] = [];
  for (const word of text.split(' ')) {
    const last = lines.at(-1);
    if (last !== undefined && widthOf(`${last} ${word}`) <= width)
      lines[lines.length - 1] = `${last} ${word}`;
    else lines.push(word);
  }
  return lines;
}

const decimal = /^-?[\d,]+(\.\d+)?%?$/;
const gap = '  ';
/** Columns shrink to this width at least. */
const narrowest = 8;

/**
 * Formats a table: text aligned to the left, numbers to the right. If lines do not fit the terminal, the widest columns
 * shrink: their cells are broken between words, and words that are still too long lose their middle.
 *
 * @param rows texts without styles, and numbers; false: left out
 */
export function table(
  rows: readonly (readonly (string | number)[] | false)[],
  width = terminalWidth(process.stdout),
): string {
  const cells = rows
    .filter((row) => row !== false)
    .map((row) => row.map((cell) => visibleInLine(typeof cell === 'number' ? formatNumber(cell) : cell)));
  const widths = columnWidths(cells, width - gap.length);
  return cells
    .flatMap((row) => {
      const columns = row.map((cell, column) => cellLines(cell, widths[column]!));
      const height = Math.max(1, ...columns.map((lines) => lines.length));
      return Array.from({ length: height }, (_, at) =>
        (gap + columns.map((lines, column) => padded(lines[at] ?? '', widths[column]!)).join(gap)).trimEnd(),
      );
    })
    .join('\n');
}

/**
 * Formats records as a table, or as a list of fields for each record if the columns do not fit the terminal, as psql
 * does with `\x auto`.
 */
export function recordTable(
  names: readonly string[],
  records: readonly (readonly string[])[],
  width = terminalWidth(process.stdout),
): string {
  const widths = columnWidths([names, ...records], Number.POSITIVE_INFINITY);
  const least = widths.reduce((sum, each) => sum + gap.length + Math.min(each, narrowest), 0);
  if (least <= width || records.length === 0) return table([names, ...records], width);
  return records
    .map((record, index) => {
      const fields = names.map((name, column) => [name, record[column] ?? ''] as const);
      return `row ${index + 1}\n${labelled(fields)}`;
    })
    .join('\n');
}

/** A line for each pair of a label and a value. */
export function labelled(pairs: readonly (readonly [label: string, value: string])[]): string {
  const [width = 0] = columnWidths(
    pairs.map(([label]) => [label]),
    Number.POSITIVE_INFINITY,
  );
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

/** The width of each column, shrunk to fit if needed: always the widest, and never a date, a number or a cursor. */
function columnWidths(rows: readonly (readonly string[])[], fitting: number): number[] {
  const widths: number[] = [];
  const floors: number[] = [];
  for (const row of rows)
    for (const [column, cell] of row.entries()) {
      widths[column] = Math.max(widths[column] ?? 0, widthOf(cell));
      const whole = cell.split(' ').filter((word) => /^\d[\d.,:TZ-]*$/.test(word));
      floors[column] = Math.max(floors[column] ?? narrowest, ...whole.map(widthOf));
    }
  const lineWidth = (): number => widths.reduce((sum, each) => sum + each + gap.length, -gap.length);
  while (lineWidth() > fitting) {
    const shrinking = widths.map((each, column) => (each > floors[column]! ? each : 0));
    const widest = Math.max(...shrinking);
    if (widest === 0) break;
    widths[shrinking.indexOf(widest)] = widest - 1;
  }
  return widths;
}

function cellLines(text: string, width: number): string[] {
  if (widthOf(text) <= width) return [text];
  return brokenLines(
    text
      .split(' ')
      .map((word) => shortened(word, width))
      .join(' '),
    width,
  );
}

/** Shortens a word in the middle: its ends identify it, such as the kind and the last part of an id. */
function shortened(word: string, width: number): string {
  if (widthOf(word) <= width) return word;
  const characters = Array.from(word);
  let [head, tail] = ['', ''];
  while (characters.length > 0) {
    const isHead = widthOf(head) <= widthOf(tail);
    const [longerHead, longerTail] = isHead
      ? [head + characters.shift()!, tail]
      : [head, characters.pop()! + tail];
    if (widthOf(`${longerHead}…${longerTail}`) > width) break;
    [head, tail] = [longerHead, longerTail];
  }
  return `${head}…${tail}`;
}

function padded(text: string, width: number): string {
  const spaces = ' '.repeat(Math.max(0, width - widthOf(text)));
  return decimal.test(text) ? spaces + text : text + spaces;
}
