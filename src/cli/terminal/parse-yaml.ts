import { parse } from 'yaml';

/**
 * Reads YAML, and JSON with it.
 *
 * @throws Error whose message is one line: what is wrong, and in which line
 */
export function parseYaml(text: string): unknown {
  try {
    return parse(text);
  } catch (error) {
    // Further lines of the message show the place with an arrow below it: too much for one sentence.
    const [what = ''] = (error as Error).message.split('\n');
    throw new Error(what.replace(/:$/, ''), { cause: error });
  }
}
