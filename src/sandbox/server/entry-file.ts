import { appendFileSync, existsSync, mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseJson } from './parse-json.ts';

/** A file of entries, a line of JSON each, which outlives a restart of the sandbox. */
export class EntryFile<Entry extends object> {
  readonly #path: string | undefined;
  #isCutOff = false;

  /** @param directory undefined: nothing is kept */
  constructor(directory: string | undefined, name: string) {
    if (directory === undefined) return;
    mkdirSync(directory, { recursive: true });
    this.#path = join(directory, name);
  }

  /** The entries of earlier processes. Leaves out a line that a kill or a full disk cut off. */
  *read(): Generator<Entry> {
    if (this.#path === undefined || !existsSync(this.#path)) return;
    const lines = readFileSync(this.#path, 'utf8').split('\n');
    this.#isCutOff = lines.at(-1) !== '';
    for (const line of lines) {
      const entry = parseJson(line);
      if (entry !== undefined) yield entry as Entry;
    }
  }

  append(entry: Entry): void {
    if (this.#path === undefined) return;
    appendFileSync(this.#path, `${this.#isCutOff ? '\n' : ''}${JSON.stringify(entry)}\n`);
    this.#isCutOff = false;
  }
}
