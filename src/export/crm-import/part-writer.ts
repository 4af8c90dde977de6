import { createHash, type Hash } from 'node:crypto';
import { appendFile } from 'node:fs/promises';
import { join } from 'node:path';
import { isFormula } from '../../domain/text/formula.ts';

/** A written file, as the manifest lists it. */
export interface WrittenPart {
  readonly file: string;
  /** Records, header excluded. */
  readonly rows: number;
  readonly bytes: number;
  readonly sha256: string;
}

export interface PartOptions {
  readonly folder: string;
  /** File name without number and extension. */
  readonly name: string;
  /** Without its line end; undefined: the file has none. */
  readonly header: string | undefined;
  readonly lineEnd: string;
  readonly byteOrderMark: boolean;
  /** Limits of one file; undefined: one file of any size. */
  readonly most?: { readonly rows: number; readonly bytes: number } | undefined;
}

interface OpenPart {
  readonly file: string;
  readonly hash: Hash;
  rows: number;
  bytes: number;
}

const bufferedBytes = 256 * 1024;

/**
 * Writes records of one kind into as many files as the limits require. Closes files between writes, because
 * an export has one writer for each set of columns. Files have personal data, so only this user can read
 * them.
 */
export class PartWriter {
  readonly #options: PartOptions;
  readonly #done: WrittenPart[] = [];
  #open: OpenPart | undefined;
  #buffer: Buffer[] = [];
  #buffered = 0;

  constructor(options: PartOptions) {
    this.#options = options;
  }

  /** @param line without its line end */
  async write(line: string): Promise<void> {
    const bytes = Buffer.from(line + this.#options.lineEnd);
    if (this.#open && this.#isFull(this.#open, bytes.length)) await this.#close();
    this.#open ??= this.#begin();
    this.#open.rows += 1;
    this.#put(this.#open, bytes);
    if (this.#buffered >= bufferedBytes) await this.#flush(this.#open);
  }

  /** @returns the files, in the order in which they were written */
  async end(): Promise<readonly WrittenPart[]> {
    await this.#close();
    return this.#done;
  }

  #isFull({ rows, bytes }: OpenPart, more: number): boolean {
    const { most } = this.#options;
    return most !== undefined && (rows >= most.rows || bytes + more > most.bytes);
  }

  #begin(): OpenPart {
    const { name, header, lineEnd, byteOrderMark, most } = this.#options;
    const number = most === undefined ? '' : `-${String(this.#done.length + 1).padStart(3, '0')}`;
    const part = { file: `${name}${number}.csv`, hash: createHash('sha256'), rows: 0, bytes: 0 };
    const head = header === undefined ? '' : `${header}${lineEnd}`;
    this.#put(part, Buffer.from(`${byteOrderMark ? '\uFEFF' : ''}${head}`));
    return part;
  }

  #put(part: OpenPart, bytes: Buffer): void {
    part.bytes += bytes.length;
    part.hash.update(bytes);
    this.#buffer.push(bytes);
    this.#buffered += bytes.length;
  }

  async #flush(part: OpenPart): Promise<void> {
    await appendFile(join(this.#options.folder, part.file), Buffer.concat(this.#buffer), { mode: 0o600 });
    this.#buffer = [];
    this.#buffered = 0;
  }

  async #close(): Promise<void> {
    const part = this.#open;
    if (!part) return;
    await this.#flush(part);
    const { file, rows, bytes, hash } = part;
    this.#done.push({ file, rows, bytes, sha256: hash.digest('hex') });
    this.#open = undefined;
  }
}

/**
 * One record of a CSV file for importers (RFC 4180), without its line end.
 *
 * Tabs are quoted, because Salesforce's Data Loader reads comma and tab as delimiters. Formulas get no
 * apostrophe, because an importer would store it.
 */
export function csvLine(cells: readonly string[]): string {
  return cells.map(quoted).join(',');
}

/** One record for spreadsheets: a cell that a spreadsheet would calculate gets a leading apostrophe. */
export function spreadsheetLine(cells: readonly string[]): string {
  return csvLine(cells.map((cell) => (isFormula(cell) ? `'${cell}` : cell)));
}

function quoted(cell: string): string {
  return /[",\t\r\n]|^\s|\s$/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell;
}
