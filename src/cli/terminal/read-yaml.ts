import { describeCode } from '../../domain/error-code.ts';
import { readFile } from 'node:fs/promises';
import { parse } from 'yaml';
import type { Problem } from '../../domain/problem.ts';

/**
 * Reads a file of YAML, or of JSON.
 *
 * @param name names the file in an error, such as `the mapping file`
 * @param problemOf makes the problem of a file that cannot be read
 * @throws Problem
 */
export async function readYamlFile(
  path: string,
  name: string,
  problemOf: (what: string, cause: unknown) => Problem,
): Promise<unknown> {
  const text = await readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
    const what = error.code === 'ENOENT' ? 'does not exist' : `cannot be read: ${describeCode(error.code)}`;
    throw problemOf(`${name} ${what}`, error);
  });
  try {
    return parse(text);
  } catch (error) {
    // The further lines of the message draw an arrow to the place, which does not fit a message of one line.
    const [what = ''] = (error as Error).message.split('\n');
    throw problemOf(`${name} is neither YAML nor JSON: ${what.replace(/:$/, '')}`, error);
  }
}
