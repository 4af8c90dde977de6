import { randomBytes } from 'node:crypto';
import { rmSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';

/**
 * Gives `write` the path of a draft beside an output, which `write` renames to the output when the draft is complete.
 * The name is unique, because two commands can write one output at once. An incomplete draft has personal data, so it
 * is removed, also if a signal ends the process.
 */
export async function withDraft<Result>(
  output: string,
  write: (draft: string) => Promise<Result>,
): Promise<Result> {
  const name = `.${basename(output)}.${randomBytes(4).toString('hex')}.partial`;
  const draft = join(dirname(output), name);
  const remove = (): void => {
    try {
      rmSync(draft, { recursive: true, force: true });
    } catch {
      // The folder cannot be used: the error of `write` says so.
    }
  };
  process.once('exit', remove);
  try {
    return await write(draft);
  } finally {
    process.off('exit', remove);
    remove();
  }
}
