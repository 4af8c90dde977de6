import { once } from 'node:events';
import { createInterface } from 'node:readline/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { exitCodes } from '../../domain/problem.ts';
import type { CommonFlags } from './command.ts';
import { printNotice } from './output.ts';

/** Asks the operator a question. Only y and yes agree; Enter means no. @returns undefined without an answer (Ctrl-C) */
export async function askYesOrNo(question: string, signal?: AbortSignal): Promise<boolean | undefined> {
  if (!process.stdin.isTTY || signal?.aborted === true) return undefined;
  await discardTyped();
  const terminal = createInterface({ input: process.stdin, output: process.stderr });
  try {
    const asked = terminal.question(`${question} [y/N] `, signal ? { signal } : {});
    const answer = await Promise.race([asked, once(terminal, 'close')]);
    if (typeof answer !== 'string') process.stderr.write('\n');
    else if (/^\s*(?:y(?:es)?|no?|)\s*$/i.test(answer)) return /y/i.test(answer);
    return undefined;
  } catch {
    // The signal ended the wait for an answer.
    return undefined;
  } finally {
    terminal.close();
  }
}

/** Discards lines typed before the question appeared, because the operator had not read what a yes approves. */
async function discardTyped(): Promise<void> {
  process.stdin.resume();
  // The terminal already has these lines. The pause only gives Node.js time to read them.
  await sleep(50);
  process.stdin.pause();
}

/** Asks for approval unless `--yes` is given. Without an answer, the exit code says that the operator is needed. */
export async function confirmUnlessYes(
  question: string,
  { json, yes }: CommonFlags,
  unchanged: string,
): Promise<boolean> {
  if (yes === true) return true;
  const answer = json === true ? undefined : await askYesOrNo(question);
  if (answer === true) return true;
  const why = answer === undefined && !process.stdin.isTTY ? ': there is no terminal to ask' : '';
  printNotice(`${unchanged}${why}; --yes answers yes without asking`);
  if (answer === undefined) process.exitCode = exitCodes.needsOperator;
  return false;
}

/** A change that needs approval: `measure` computes its figures without making it, and `show` prints them. */
interface PreviewedChange<Figures> {
  readonly measure: () => Promise<Figures>;
  readonly change: () => Promise<Figures>;
  readonly show: (figures: Figures, isDone: boolean) => void;
  readonly question: string;
  readonly unchanged: string;
}

/** Shows what a change would do, asks the operator, and makes the change. */
export async function previewThenChange<Figures>(
  flags: CommonFlags,
  { measure, change, show, question, unchanged }: PreviewedChange<Figures>,
): Promise<void> {
  if (flags.yes !== true) {
    show(await measure(), false);
    if (!(await confirmUnlessYes(question, flags, unchanged))) return;
  }
  show(await change(), true);
}
