import { createInterface } from 'node:readline/promises';

/**
 * Asks on the terminal before something is spent or changed.
 *
 * @returns whether the answer is yes; undefined without an answer: no terminal, Ctrl-C, or the end of the input
 * @param signal ends the wait for an answer
 */
export async function agrees(question: string, signal?: AbortSignal): Promise<boolean | undefined> {
  if (!process.stdin.isTTY) return undefined;
  const terminal = createInterface({ input: process.stdin, output: process.stderr });
  const unanswered = new AbortController();
  // At the end of the input, `question` never settles and the process would end without a message.
  terminal.once('close', () => unanswered.abort());
  signal?.addEventListener('abort', () => unanswered.abort());
  try {
    return /^y(?:es)?$/i.test((await terminal.question(`${question} [y/N] `, unanswered)).trim());
  } catch (error) {
    if ((error as Error).name !== 'AbortError') throw error;
    process.stderr.write('\n');
    return undefined;
  } finally {
    terminal.close();
  }
}

/** The end of a sentence that explains a missing answer: without a terminal, the command could not ask. */
export function noTerminal(answer: boolean | undefined): string {
  return answer === undefined && !process.stdin.isTTY ? ': there is no terminal to ask' : '';
}
