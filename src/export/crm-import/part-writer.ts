import { createHash, type Hash } from 'node:crypto';
import { appendFileSync } from 'node:fs';
import { join } from 'node:path';
import { isFormula } from '../../domain/text/formula.ts';
import type { WrittenPart } from './import-manifest.ts';

export interface PartOptions {
  readonly folder: string;
  /** File name without number and extension. */
  readonly name: string;
  readonly header: readonly string[];
  readonly lineEnd: string;
  readonly byteOrderMark: boolean;
  /** Limits of one file; absent: one file of any size. */
  readonly most?: { readonly rows: number; readonly bytes: number };
}

const bufferedBytes = 256 * 1024;

/**
 * Writes records of one kind into as many files as the limits require. A file is open only while it is written, because
 * an export has one writer for each set of columns. Files have personal data, so only this user can read them.
 */
export class PartWriter {
  readonly #options: PartOptions;
  readonly #done: WrittenPart[] = [];
  #hash: Hash = createHash('sha256');
  #rows = 0;
  #bytes = 0;
  #buffer: Buffer[] = [];
  #buffered = 0;

  constructor(options: PartOptions) {
    this.#options = options;
  }

  /** @param line without its line end */
  write(line: string): void {
    const { most, header, lineEnd, byteOrderMark } = this.#options;
    const bytes = Buffer.from(line + lineEnd);
    if (most && (this.#rows >= most.rows || this.#bytes + bytes.length > most.bytes)) this.end();
    if (this.#rows === 0)
      this.#put(Buffer.from(`${byteOrderMark ? '\uFEFF' : ''}${csvLine(header)}${lineEnd}`));
    this.#put(bytes);
    this.#rows += 1;
    if (this.#buffered >= bufferedBytes) this.#flush();
  }

  /** @returns the files, in the order in which they were written */
  end(): readonly WrittenPart[] {
    if (this.#rows === 0) return this.#done;
    this.#flush();
    const sha256 = this.#hash.digest('hex');
    this.#done.push({ file: this.#file, rows: this.#rows, bytes: this.#bytes, sha256 });
    this.#hash = createHash('sha256');
    this.#rows = 0;
    this.#bytes = 0;
    return this.#done;
  }

  get #file(): string {
    const { name, most } = this.#options;
    return most ? `${name}-${String(this.#done.length + 1).padStart(3, '0')}.csv` : `${name}.csv`;
  }

  #put(bytes: Buffer): void {
    this.#hash.update(bytes);
    this.#bytes += bytes.length;
    this.#buffer.push(bytes);
    this.#buffered += bytes.length;
  }

  #flush(): void {
    appendFileSync(join(this.#options.folder, this.#file), Buffer.concat(this.#buffer), { mode: 0o600 });
    this.#buffer = [];
    this.#buffered = 0;
  }
}

/** One record of a CSV file for importers. Salesforce's Data Loader reads tabs as delimiters, so they are quoted. */
export function csvLine(cells: readonly string[]): string {
  return cells
    .map((cell) => (/[",\t\r\n]|^\s|\s$/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell))
    .join(',');
}

/** One record for spreadsheets: a cell that a spreadsheet would calculate gets a leading apostrophe. */
export function spreadsheetLine(cells: readonly string[]): string {
  return csvLine(cells.map((cell) => (isFormula(cell) ? `'${cell}` : cell)));
}
