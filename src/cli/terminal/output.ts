import { pipeline } from 'node:stream/promises';
import stringWidth from 'string-width';
import { z } from 'zod';
import { describeErrorCode, Problem } from '../../domain/problem.ts';
import {
  formatNumber,
  formatMinute,
  escapeControls,
  escapeControlsInLine,
} from '../../domain/text/format.ts';
import { withoutPersonalData } from '../../domain/text/without-personal-data.ts';
import type { OutputName, OutputOf } from '../../outputs/outputs.ts';

/** Matches `enrich` before the name of a command, which `commandAsTyped` replaces. */
let commandsInTexts: RegExp | undefined;

/** Progress line that the terminal redraws. Other text clears the line, then the line is drawn again below the text. */
let changing: string | undefined;
/** True once this command has printed its JSON value. An error then prints none. */
let isObjectPrinted = false;
/** True with `--quiet`: progress and hints are left out. */
export let isQuiet = false;

/** Resets the output for a new command, which prints at most one JSON value. @param names names of all commands */
export function beginOutput(names: Iterable<string>): void {
  isObjectPrinted = false;
  isQuiet = false;
  commandsInTexts = new RegExp(`(?<![\\w/.-]|npx )enrich(?= (?:${[...names].join('|')})\\b)`, 'g');
}

export function beQuiet(): void {
  isQuiet = true;
}

/** Writes commands as the operator must type them: in a clone, npm starts `enrich`, which is not on the PATH. */
export function commandAsTyped(text: string): string {
  const isOfNpm = (process.env['npm_command'] ?? '') !== '';
  return isOfNpm && commandsInTexts ? text.replace(commandsInTexts, 'npx enrich') : text;
}

export function print(text: string): void {
  write(process.stdout, `${wrapped(commandAsTyped(text), terminalWidth(process.stdout))}\n`);
}

/** Prints one JSON value on one line of standard output. `Name` is the schema of an output that programs read. */
export function printJson<Name extends OutputName | undefined = undefined>(value: Facts<Name>): void {
  isObjectPrinted = true;
  // JSON leaves the control characters U+007F to U+009F unescaped, so `escapeControls` escapes them.
  write(process.stdout, `${escapeControls(JSON.stringify(value))}\n`);
}

/** The type of an output that programs read, by its name; any object without a name. */
type Facts<Name extends OutputName | undefined> = Name extends OutputName ? OutputOf<Name> : object;

/** Prints a result: as JSON, or as `text` (default: its fields). */
export function printFacts<Name extends OutputName | undefined = undefined>(
  isJson: boolean | undefined,
  facts: Facts<Name>,
  text = describeFields(facts),
): void {
  if (isJson === true) printJson<Name>(facts);
  else print(text);
}

/** Prints progress and hints to standard error, so that results on standard output can be piped. */
export function printProgress(text: string): void {
  if (!isQuiet) printNotice(text);
}

/** Prints to standard error even with `--quiet`, for errors and for what the operator must decide. */
export function printNotice(text: string): void {
  write(process.stderr, `${wrapped(commandAsTyped(text), terminalWidth(process.stderr))}\n`);
}

/** Width in terminal columns: infinite for a file or pipe, and for a pseudo-terminal that reports 0. */
export function terminalWidth(stream: Pick<NodeJS.WriteStream, 'isTTY' | 'columns'>): number {
  return (stream.isTTY && stream.columns) || Number.POSITIVE_INFINITY;
}

export function fits(text: string, lineWidth: number): boolean {
  return text.split('\n').every((line) => stringWidth(line) <= lineWidth);
}

/** Wraps lines between words. Continuation lines begin below the text of a label or the last cell of a table. */
export function wrapped(text: string, lineWidth: number): string {
  const lines = escapeControls(text).split('\n');
  return lines.map((line) => (fits(line, lineWidth) ? line : wrappedLine(line, lineWidth))).join('\n');
}

/** Wraps one line. Below a label, such as `next: ` or the first cells of a table, it continues indented to its text. */
function wrappedLine(line: string, lineWidth: number): string {
  const [margin = ''] = /^ */.exec(line) ?? [];
  const [label = ''] = /^(?:.*\S {2,}| *[a-z]+: +)/.exec(line) ?? [];
  const isLabelled = label !== '' && stringWidth(label) <= lineWidth / 2;
  const start = isLabelled ? label : margin;
  const indent = isLabelled ? ' '.repeat(stringWidth(label)) : `${margin}  `;
  const lines: string[] = [];
  let current = start;
  for (const [place, word] of unbrokenWords(line.slice(start.length)).entries()) {
    const longer = place === 0 ? current + word : `${current} ${word}`;
    if (place === 0 || stringWidth(longer) <= lineWidth) current = longer;
    else {
      lines.push(current.trimEnd());
      current = indent + word;
    }
  }
  return [...lines, current].join('\n');
}

/** Splits a text where a line may end. Phrases with an option, and `enrich` with two words, stay whole for copying. */
function unbrokenWords(text: string): string[] {
  return text
    .split(/(?<=[;:,]) /)
    .flatMap((phrase) =>
      / --\w|\bpsql /.test(phrase) ? [phrase] : phrase.split(/(?<!\benrich(?: [\w-]+)?) /),
    );
}

/** Reports the progress of a long change, at most every ten seconds. */
export function progressReporter(what: string): (done: number) => void {
  let told = performance.now();
  return (done) => {
    if (performance.now() - told < 10_000) return;
    told = performance.now();
    printProgress(`${formatNumber(done)} ${what} so far`);
  };
}

/** Writes text to a stream above the progress line, with control characters made visible. */
export function write(stream: NodeJS.WriteStream, text: string): void {
  const isDrawn = stream.isTTY && changing !== undefined;
  if (isDrawn) process.stderr.write(clearedLine);
  stream.write(escapeControls(text));
  if (isDrawn) process.stderr.write(changing!);
}

/** Moves to the beginning of the line of a terminal, and clears the line. */
const clearedLine = '\u001b[G\u001b[K';

/** Shows a line on the terminal that the next progress line replaces. */
export function showProgressLine(text: string): void {
  if (isQuiet) return;
  changing = shortened(escapeControlsInLine(text), (process.stderr.columns || 100) - 1);
  process.stderr.write(clearedLine + changing);
}

/** Leaves the progress line on the terminal. Later text goes below it. */
export function keepProgressLine(): void {
  if (changing !== undefined) process.stderr.write('\n');
  changing = undefined;
}

/** Prints an error; with `isJson`, also as an object unless a result was printed. @returns the exit code */
export function reportFailure(error: unknown, isJson: boolean): number {
  keepProgressLine();
  const problem = problemOf(error);
  // A program that requests JSON may log standard error, so the message leaves out personal data.
  printNotice(`error: ${problem.explain(!isJson)}`);
  if (problem !== error && process.env['LOG_LEVEL'] === 'debug' && error instanceof Error)
    printNotice(withoutPersonalData(error.stack ?? ''));
  if (isJson) printFailure(problem, problem.exitCode);
  return problem.exitCode;
}

/** Prints a failure as JSON, unless the command has printed a result as JSON. */
export function printFailure(
  failure: Pick<Problem, 'type' | 'message' | 'where' | 'next'>,
  exitCode: number,
): void {
  if (isObjectPrinted) return;
  const { type, message, where = null, next } = failure;
  printJson<'error'>({ error: { type, message, where, next }, exit_code: exitCode });
}

/** Returns the error if it is a Problem, otherwise a Problem without personal data. */
export function problemOf(error: unknown): Problem {
  if (error instanceof Problem) return error;
  const what = error instanceof Error ? withoutPersonalData(error.message) : String(error);
  const next = 'set LOG_LEVEL=debug and try again; enrich doctor checks the set-up';
  return new Problem('unforeseen', what, { next });
}

/** Lets a reader close standard output early, such as `head -3`. Other failures of standard output are errors. */
export function guardOutput(): void {
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code === 'EPIPE') return;
    const next = 'free disk space, or send the output elsewhere; nothing else was lost';
    const what = `standard output cannot be written: ${describeErrorCode(error.code)}`;
    process.exit(reportFailure(new Problem('output.unwritable', what, { next }), false));
  });
  // Without standard error, a failure cannot be reported anywhere.
  process.stderr.on('error', () => {});
}

/** Writes bytes as fast as the reader accepts them. A reader that closes the pipe early is not an error. */
export async function writeBytes(
  bytes: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
  output: NodeJS.WriteStream = process.stdout,
): Promise<void> {
  const shown = output.isTTY ? withVisibleText(bytes) : bytes;
  await pipeline(shown, output, { end: false }).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') throw error;
  });
}

/** Makes control characters visible, because they could control the terminal. */
async function* withVisibleText(
  bytes: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
): AsyncIterable<Uint8Array> {
  const decoder = new TextDecoder();
  for await (const piece of bytes) yield Buffer.from(escapeControls(decoder.decode(piece, { stream: true })));
  yield Buffer.from(escapeControls(decoder.decode()));
}

const logLine = z.looseObject({ level: z.string(), time: z.string(), msg: z.string().default('') });

/** Formats a line of the JSON log for the terminal: `12:03:44 warning: a call failed (attemptId at-17, people 10)`. */
export function describeLogLine(json: string): string {
  const { level, time, msg, ...fields } = logLine.parse(JSON.parse(json));
  const facts = Object.entries(fields).map(([name, value]) => {
    const { message } = (value ?? {}) as { readonly message?: string };
    return message ?? `${name} ${JSON.stringify(value)}`;
  });
  const mark = level === 'warn' ? 'warning: ' : level === 'error' || level === 'fatal' ? 'error: ' : '';
  const more = facts.length === 0 ? '' : ` (${facts.join(', ')})`;
  return `${time.slice(11, 19)} ${mark}${msg}${more}`;
}

/** Matches a cell with a number, which is aligned to the right. */
const decimal = /^-?[\d,]+(\.\d+)?%?$/;
const gap = '  ';

/** Width of the terminal in columns, and the numbers of the table columns that are narrowed first. */
interface Fit {
  readonly width?: number;
  readonly cutFirst?: readonly number[];
}

/** Minimum width, in characters, of the columns that a narrow terminal cuts first. */
const leastCut = 10;

/** Formats rows in columns; `false` leaves a row out. The widest cells are cut until the lines fit. */
export function formatTable(
  rows: readonly (readonly (string | number)[] | false)[],
  { width: lineWidth = Number.POSITIVE_INFINITY, cutFirst = [] }: Fit = {},
): string {
  const whole = rows
    .filter((row) => row !== false)
    .map((row) =>
      row.map((cell) => escapeControlsInLine(typeof cell === 'number' ? formatNumber(cell) : cell)),
    );
  // Widths count terminal columns. A Chinese character takes two of them.
  const widths: number[] = [];
  for (const row of whole)
    for (const [column, cell] of row.entries())
      widths[column] = Math.max(widths[column] ?? 0, stringWidth(cell));
  const widthOfLine = (): number => widths.reduce((sum, width) => sum + gap.length + width, 0);
  // Narrows the widest of these columns, one terminal column at a time.
  const narrow = (columns: readonly number[], least: number): void => {
    while (widthOfLine() > lineWidth) {
      const widest = columns.reduce(
        (one, other) => (widths[other]! > widths[one]! ? other : one),
        columns[0]!,
      );
      if (widths[widest]! <= least) return;
      widths[widest]! -= 1;
    }
  };
  if (cutFirst.length > 0) narrow(cutFirst, leastCut);
  narrow([...widths.keys()], 1);
  const cells = whole.map((row) => row.map((cell, column) => shortened(cell, widths[column]!)));
  // The first row can be a heading, so it does not decide whether a column has numbers.
  const areNumbers = widths.map((_, column) =>
    cells.slice(1).every((row) => decimal.test(row[column] ?? '0')),
  );
  const padded = (cell: string, column: number): string => {
    const spaces = ' '.repeat(widths[column]! - stringWidth(cell));
    return areNumbers[column] && decimal.test(cell) ? spaces + cell : cell + spaces;
  };
  return cells.map((row) => (gap + row.map(padded).join(gap)).trimEnd()).join('\n');
}

/** Cuts a text to a width in terminal columns, without splitting a character that readers see as one. */
function shortened(text: string, width: number): string {
  if (stringWidth(text) <= width) return text;
  let start = '';
  for (const { segment } of new Intl.Segmenter().segment(text)) {
    if (stringWidth(start + segment) >= width) break;
    start += segment;
  }
  return `${start}…`;
}

export function describeFields(facts: object): string {
  return formatTable(
    Object.entries(facts).map(([name, value]: [string, unknown]) => [titleOf(name), shownValue(value)]),
  );
}

/** Formats records as a table. Default columns: the fields of the first. @param none text for no records */
export function formatRecords<Row extends object>(
  records: readonly Row[],
  columns: readonly (keyof Row & string)[] = Object.keys(records[0] ?? {}) as (keyof Row & string)[],
  none?: string,
  fit?: Fit,
): string {
  if (none !== undefined && records.length === 0) return none;
  const rows = records.map((record) => columns.map((column) => shownValue(record[column])));
  return formatTable([columns.map(titleOf), ...rows], fit);
}

/** Formats a table. If its lines do not fit, each value gets a line of its own, below the number of the row. */
export function fittedTable(
  names: readonly string[],
  rows: readonly (readonly string[])[],
  lineWidth: number,
): string {
  const whole = formatTable([names, ...rows]);
  // A single column, such as that of EXPLAIN, would not become narrower.
  if (names.length === 1 || fits(whole, lineWidth)) return whole;
  const vertical = rows.map(
    (row, place) =>
      `row ${formatNumber(place + 1)}\n${formatTable(names.map((name, column) => [name, row[column]!]))}`,
  );
  return wrapped(vertical.join('\n'), lineWidth);
}

function titleOf(name: string): string {
  return name.replaceAll('_', ' ');
}

function shownValue(value: unknown): string {
  if (value === null || value === undefined || value === '') return '-';
  if (typeof value === 'boolean') return value ? 'yes' : 'no';
  if (typeof value === 'number') return formatNumber(value);
  if (value instanceof Date) return `${formatMinute(value)} UTC`;
  if (Array.isArray(value)) return value.map(shownValue).join(', ') || '-';
  return typeof value === 'string' ? value : JSON.stringify(value);
}
