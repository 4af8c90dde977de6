import { parse } from 'yaml';

/**
 * Reads YAML, and JSON with it.
 *
 * @throws Error with a message of one line: what is wrong, and in which line of the YAML
 */
export function parseYaml(text: string): unknown {
  try {
    return parse(text);
  } catch (error) {
    // The further lines of the message draw an arrow to the place, which does not fit a message of one line.
    const [what = ''] = (error as Error).message.split('\n');
    throw new Error(what.replace(/:$/, ''), { cause: error });
  }
}
