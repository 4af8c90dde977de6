import { describeCode } from '../../domain/error-code.ts';
import { Problem } from '../../domain/problem.ts';
import type { OutputName, OutputOf } from '../../outputs/outputs.ts';
import { visible, visibleInLine } from '../../domain/text/visible.ts';
import { withoutPersonalData } from '../../domain/text/without-personal-data.ts';
import { paint, rendered, showsStyles } from './style.ts';
import { terminalWidth, wrapLines } from './wrap.ts';

export { describeFields, labelled, recordTable, table } from './table.ts';

/** The changing line on the terminal. Other text clears the line, and the line is drawn again below that text. */
let changing: { readonly stream: NodeJS.WriteStream; readonly text: string } | undefined;
let isObjectPrinted = false;
let outputFailure: OutputProblem | undefined;

/** Begins the output of a command, which prints at most one JSON value. */
export function beginOutput(): void {
  isObjectPrinted = false;
}

/** Prints results to standard output. */
export function print(text: string): void {
  write(process.stdout, `${wrapLines(text, terminalWidth(process.stdout))}\n`);
}

/**
 * Prints one JSON value on one line of standard output, for programs.
 *
 * @typeParam Name of the output whose JSON Schema the value must fit; undefined: the output has none
 */
export function printJson<Name extends OutputName | undefined = undefined>(value: Facts<Name>): void {
  isObjectPrinted = true;
  // JSON does not escape the control characters of Latin-1; `visible` does.
  write(process.stdout, `${visible(JSON.stringify(value))}\n`);
}

type Facts<Name extends OutputName | undefined> = Name extends OutputName ? OutputOf<Name> : object;

/** Prints a result as JSON for a program, or as text for the operator. @typeParam Name as of `printJson` */
export function printFacts<Name extends OutputName | undefined = undefined>(
  isJson: boolean | undefined,
  facts: Facts<Name>,
  text: string,
): void {
  if (isJson === true) printJson<Name>(facts);
  else print(text);
}

/** Prints progress, hints and errors to standard error, so that results can be piped. */
export function tell(text: string): void {
  write(process.stderr, `${wrapLines(text, terminalWidth(process.stderr))}\n`);
}

/** Writes text to a stream, above the changing line, with control characters made visible. */
export function write(stream: NodeJS.WriteStream, text: string): void {
  if (stream.isTTY) changing?.stream.write(clearedLine);
  stream.write(rendered(text, showsStyles(stream)));
  if (stream.isTTY) changing?.stream.write(changing.text);
}

const clearedLine = '\u001b[G\u001b[K';

/** Replaces the changing line on a terminal. */
export function showChangingLine(text: string, stream: NodeJS.WriteStream = process.stderr): void {
  changing = { stream, text: visibleInLine(text) };
  stream.write(clearedLine + changing.text);
}

/** Keeps the changing line on the terminal; later text goes below it. */
export function endChangingLine(): void {
  changing?.stream.write('\n');
  changing = undefined;
}

/**
 * Prints an error: what failed, where, what to do.
 *
 * @param isJson also print one JSON object to standard output, if the command has printed none
 * @returns the exit code
 */
export function reportFailure(error: unknown, isJson: boolean): number {
  endChangingLine();
  // Reported already, when it happened.
  if (outputFailure && (error as { code?: unknown }).code === outputFailure.code)
    return outputFailure.exitCode;
  const problem = error instanceof Problem ? error : unforeseen(error);
  tell(`${paint('red', 'error:')} ${problem.explain()}`);
  if (problem !== error && process.env['LOG_LEVEL'] === 'debug' && error instanceof Error)
    tell(withoutPersonalData(error.stack ?? ''));
  if (isJson) printFailure(problem, problem.exitCode);
  return problem.exitCode;
}

/** Prints an error as JSON, unless the command has printed its result. */
export function printFailure(
  failure: Pick<Problem, 'type' | 'message' | 'where' | 'next'>,
  exitCode: number,
): void {
  if (isObjectPrinted) return;
  const { type, message, where = null, next } = failure;
  printJson<'error'>({ error: { type, message, where, next }, exit_code: exitCode });
}

function unforeseen(error: unknown): Problem {
  return new Problem(
    'unforeseen',
    error instanceof Error ? withoutPersonalData(error.message) : String(error),
    { next: 'set LOG_LEVEL=debug and try again; enrich doctor checks the set-up' },
  );
}

/** Standard output cannot be written. Reported once, when it happens. */
class OutputProblem extends Problem {
  /** Error code of the system, such as ENOSPC. */
  readonly code: string;

  constructor(code: string) {
    super('output.unwritable', `standard output cannot be written: ${describeCode(code)}`, {
      next: 'free disk space, or send the output elsewhere; nothing else was lost',
    });
    this.code = code;
  }
}

/**
 * Reports a full disk behind standard output as an error, with exit code 1. A reader that closes the pipe early
 * (`enrich status | head -3`) is no error.
 */
export function guardOutput(): void {
  process.stdout.on('error', ({ code = 'failed' }: NodeJS.ErrnoException) => {
    if (code === 'EPIPE' || outputFailure) return;
    outputFailure = new OutputProblem(code);
    tell(`${paint('red', 'error:')} ${outputFailure.explain()}`);
  });
  // A closed standard error leaves nowhere to report to.
  process.stderr.on('error', () => {});
  process.on('exit', () => {
    if (outputFailure) process.exitCode = outputFailure.exitCode;
  });
}
