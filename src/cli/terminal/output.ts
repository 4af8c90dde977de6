import { Problem } from '../../domain/problem.ts';
import type { OutputName, OutputOf } from '../../outputs/outputs.ts';
import { visible, visibleInLine } from '../../domain/text/visible.ts';
import { withoutPersonalData } from '../../telemetry/log.ts';
import { paint, rendered, showsStyles, visibleStyled } from './style.ts';
import { terminalWidth, wrapLines } from './wrap.ts';

export { table } from './table.ts';

/** The line that changes, as it stands on a terminal: it is cleared before other text, and drawn again below it. */
let changing: { readonly stream: NodeJS.WriteStream; readonly text: string } | undefined;
let isObjectPrinted = false;
let outputFailure: OutputProblem | undefined;

/** Facts go to standard output. */
export function print(text: string): void {
  write(process.stdout, `${wrapLines(text, terminalWidth(process.stdout))}\n`);
}

/**
 * One JSON value on a line of standard output, for programs.
 *
 * @typeParam Name of the output, whose schema the value must fit; without a name no value fits
 */
export function printJson<Name extends OutputName = never>(value: OutputOf<Name>): void {
  isObjectPrinted = true;
  // Control characters that JSON leaves as they are (those of Latin-1) become escapes of JSON.
  write(process.stdout, `${visible(JSON.stringify(value))}\n`);
}

/** Facts for a program where it asked for JSON, otherwise a text for a person. @typeParam Name of the output */
export function printFacts<Name extends OutputName = never>(
  isJson: boolean | undefined,
  facts: OutputOf<Name>,
  text: string,
): void {
  if (isJson === true) printJson<Name>(facts);
  else print(text);
}

/** Progress, hints and errors go to standard error, so that facts can be piped. */
export function tell(text: string): void {
  write(process.stderr, `${wrapLines(text, terminalWidth(process.stderr))}\n`);
}

/** Writes text to a stream as a terminal may have it, above the line that changes. */
export function write(stream: NodeJS.WriteStream, text: string): void {
  if (stream.isTTY) changing?.stream.write(clearedLine);
  stream.write(rendered(text, showsStyles(stream)));
  if (stream.isTTY) changing?.stream.write(changing.text);
}

const clearedLine = '\u001b[G\u001b[K';

/** Shows a line on a terminal in place of the one before, until it is ended. */
export function showChangingLine(text: string, stream: NodeJS.WriteStream = process.stderr): void {
  changing = { stream, text: rendered(visibleStyled(text, visibleInLine), showsStyles(stream)) };
  stream.write(clearedLine + changing.text);
}

/** Keeps the changing line on the terminal and ends it. */
export function endChangingLine(): void {
  changing?.stream.write('\n');
  changing = undefined;
}

/**
 * Says what went wrong and what to do.
 *
 * @param isJson also as one JSON object on standard output, if the command has printed none
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

/** Prints why there are no facts, where a command has printed none. */
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

/** Standard output takes no more. It is reported as soon as it is known, and not again. */
class OutputProblem extends Problem {
  /** Of the system, such as ENOSPC. */
  readonly code: string;

  constructor(code: string) {
    super('output.unwritable', `standard output cannot be written (${code})`, {
      next: 'free disk space, or send the output elsewhere; nothing else was lost',
    });
    this.code = code;
  }
}

/**
 * Makes a full disk behind standard output an error of one sentence, with exit code 1. A reader who has read enough
 * (`enrich status | head -3`) is no error.
 */
export function guardOutput(): void {
  process.stdout.on('error', ({ code = 'failed' }: NodeJS.ErrnoException) => {
    if (code === 'EPIPE' || outputFailure) return;
    outputFailure = new OutputProblem(code);
    tell(`${paint('red', 'error:')} ${outputFailure.explain()}`);
  });
  // Without standard error there is no person to tell.
  process.stderr.on('error', () => {});
  process.on('exit', () => {
    if (outputFailure) process.exitCode = outputFailure.exitCode;
  });
}
