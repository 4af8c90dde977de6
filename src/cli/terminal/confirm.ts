import { createInterface } from 'node:readline';

/**
 * Asks on the terminal before something is spent or changed. Asks again after an answer that is neither yes nor no.
 * Enter alone is no.
 *
 * @returns whether the answer is yes; undefined without an answer: no terminal, Ctrl-C, or the end of the input
 * @param signal ends the wait for an answer
 */
export async function agrees(question: string, signal?: AbortSignal): Promise<boolean | undefined> {
  if (!process.stdin.isTTY) return undefined;
  const terminal = createInterface({ input: process.stdin, output: process.stderr });
  const close = (): void => terminal.close();
  signal?.addEventListener('abort', close);
  try {
    terminal.setPrompt(`${question} [y/N] `);
    if (signal?.aborted !== true) terminal.prompt();
    for await (const line of terminal) {
      if (/^\s*y(?:es)?\s*$/i.test(line)) return true;
      if (/^\s*(?:no?)?\s*$/i.test(line)) return false;
      process.stderr.write('please answer y or n\n');
      terminal.prompt();
    }
    process.stderr.write('\n');
    return undefined;
  } finally {
    signal?.removeEventListener('abort', close);
    terminal.close();
  }
}

/** The end of a sentence that explains a missing answer: without a terminal, the command could not ask. */
export function noTerminal(answer: boolean | undefined): string {
  return answer === undefined && !process.stdin.isTTY ? ': there is no terminal to ask' : '';
}
