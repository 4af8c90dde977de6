import Papa from 'papaparse';
import { formatNumber } from '../../domain/text/format.ts';
import { UsageProblem } from '../../domain/problem.ts';
import { countCharacter } from './export-text.ts';

/** How records and cells are separated. */
export interface Dialect {
  readonly delimiter: string;
  /** LF also ends lines in CRLF. */
  readonly newline: '\n' | '\r';
  /** Quotes are ordinary characters and enclose no cells. */
  readonly quotes?: 'none' | undefined;
}

/** Delimiters that need no mapping file. */
export const usualDelimiters: readonly string[] = [',', ';', '\t', '|'];

/** A record, and the line in the file, from 1, in which it begins. */
export interface LocatedRecord {
  readonly cells: string[];
  readonly line: number;
}

/** A longer record is no contact: the line ends or quotes are not those of a table. */
const longestRecord = 4 * 1024 * 1024;

/**
 * Papaparse over text that arrives in pieces. This is its `Parser`, on which all its streaming interfaces are built.
 * They would hide how much text is still waiting for the end of its record.
 */
export class RecordParser {
  readonly #path: string;
  readonly #dialect: Dialect;
  readonly #parser: Papa.Parser;
  #rest = '';
  #line = 1;

  constructor(path: string, dialect: Dialect) {
    this.#path = path;
    this.#dialect = dialect;
    this.#parser = createParser(dialect);
  }

  /**
   * @param piece the next text, without syntax errors (`SyntaxCheck`)
   * @param isLast the text ends with the piece
   * @throws Problem `export.record-too-long`
   */
  parse(piece: string, isLast: boolean): LocatedRecord[] {
    const text = this.#rest + piece;
    const { data: records, meta } = this.#parser.parse(text, 0, !isLast) as Papa.ParseResult<string[]>;
    const breaks = countCharacter(text, this.#dialect.newline, meta.cursor);
    const hasBreaksInCells = breaks > records.length;
    let line = this.#line;
    this.#rest = text.slice(meta.cursor);
    this.#line += breaks;
    if (this.#rest.length > longestRecord) throw this.#tooLong();
    if (this.#dialect.newline === '\n' && text.includes('\r')) dropCarriageReturns(records);
    return records.map((cells) => {
      const record = { cells, line };
      line += hasBreaksInCells ? this.#linesOf(cells) : 1;
      return record;
    });
  }

  #linesOf(cells: readonly string[]): number {
    return cells.reduce((lines, cell) => lines + countCharacter(cell, this.#dialect.newline), 1);
  }

  #tooLong(): UsageProblem {
    return new UsageProblem(
      'export.record-too-long',
      `a record is longer than ${formatNumber(longestRecord)} characters`,
      {
        where: `${this.#path}, line ${this.#line}`,
        next: 'check that this is the right CSV file, and check the line ends and quotes near that line',
      },
    );
  }
}

/** @param preview maximum number of records; 0: all */
export function createParser({ delimiter, newline, quotes }: Dialect, preview = 0): Papa.Parser {
  return new Papa.Parser({ delimiter, newline, preview, fastMode: quotes === 'none' ? true : undefined });
}

/** With LF as line end, papaparse leaves the CR of CRLF in the last cell. */
export function dropCarriageReturns(records: readonly string[][]): void {
  for (const record of records) {
    const last = record.length - 1;
    const cell = record[last]!;
    if (cell.charCodeAt(cell.length - 1) === 13) record[last] = cell.slice(0, -1);
  }
}

/**
 * Refuses a text whose quotes or line ends are not as RFC 4180 has them. Papaparse reads such a text all the same, and
 * can make one record of several contacts.
 *
 * Takes the text in pieces and keeps none: memory stays bounded if a quote never closes.
 */
export class SyntaxCheck {
  readonly #path: string;
  readonly #dialect: Dialect;
  /** `closed`: behind a quote that ends the cell, or is the first of two. */
  #state: 'plain' | 'quoted' | 'closed' = 'plain';
  /** The character before the piece. */
  #before = '\n';
  /** Line of the beginning of the piece, from 1. */
  #line = 1;
  /** Line of the quote that opened the cell. */
  #openLine = 1;
  readonly #otherLineEnd: RegExp;

  constructor(path: string, dialect: Dialect) {
    this.#path = path;
    this.#dialect = dialect;
    this.#otherLineEnd = dialect.newline === '\n' ? /\r(?!\n)/ : /\n/;
  }

  /** @throws Problem `export.quote`, `export.line-ends` */
  push(piece: string): void {
    // A CR at the end of a piece may be half of a CRLF.
    const text = this.#state === 'plain' && this.#before === '\r' ? `\r${piece}` : piece;
    if (text !== piece) this.#before = '\n';
    let opened = -1;
    let at = 0;
    while (at < text.length) {
      if (this.#state === 'quoted') {
        const quote = text.indexOf('"', at);
        if (quote === -1) break;
        this.#state = 'closed';
        at = quote + 1;
      } else if (this.#state === 'closed') {
        this.#state = this.#behindQuote(text, at);
        if (this.#state === 'quoted') at += 1;
      } else {
        const quote = this.#dialect.quotes === 'none' ? -1 : text.indexOf('"', at);
        this.#checkLineEnds(text, at, quote);
        if (quote === -1) break;
        const before = quote === 0 ? this.#before : text[quote - 1]!;
        if (!this.#endsCell(before))
          this.#refuse(text, quote, 'a quote stands inside of a cell without quotes');
        this.#state = 'quoted';
        opened = quote;
        at = quote + 1;
      }
    }
    if (opened !== -1) this.#openLine = this.#lineAt(text, opened);
    this.#line = this.#lineAt(text, text.length);
    this.#before = text.at(-1) ?? this.#before;
    if (this.#before === '\r' && this.#dialect.newline === '\r') this.#before = '\n';
  }

  /** The text has ended. @throws Problem `export.unclosed-quote` */
  finish(): void {
    if (this.#state !== 'quoted') return;
    throw new UsageProblem('export.unclosed-quote', 'a quote is opened and never closed', {
      where: `${this.#path}, line ${this.#openLine}`,
      next: `close the quote in that line, or export the file again; ${quotesAsText}`,
    });
  }

  #behindQuote(text: string, at: number): 'plain' | 'quoted' {
    if (text[at] === '"') return 'quoted';
    if (!this.#endsCell(text[at]!)) this.#refuse(text, at, 'text follows the quote that ends a cell');
    return 'plain';
  }

  #endsCell(character: string): boolean {
    return character === this.#dialect.delimiter || character === '\n' || character === '\r';
  }

  /** @param quote where the text without quotes ends; -1: it ends with the piece */
  #checkLineEnds(text: string, from: number, quote: number): void {
    // Most cells in quotes have only a delimiter between them.
    if (quote === from + 1 && text[from] === this.#dialect.delimiter) return;
    const until = quote !== -1 ? quote : text.endsWith('\r') ? text.length - 1 : text.length;
    const found = text.slice(from, until).search(this.#otherLineEnd);
    if (found === -1) return;
    throw new UsageProblem('export.line-ends', 'lines end in different ways: with CR alone, and with LF', {
      where: `${this.#path}, line ${this.#lineAt(text, from + found)}`,
      next: 'export the file again, or save it with one kind of line ends; put cells with line breaks into quotes',
    });
  }

  #refuse(text: string, at: number, what: string): never {
    throw new UsageProblem('export.quote', what, {
      where: `${this.#path}, line ${this.#lineAt(text, at)}`,
      next: `correct the line, or export the file again; ${quotesAsText}`,
    });
  }

  #lineAt(text: string, end: number): number {
    return this.#line + countCharacter(text, this.#dialect.newline, end);
  }
}

const quotesAsText =
  'inside of quotes, a quote is written twice; if quotes are ordinary characters of this file, write quotes: none in ' +
  'a mapping file (--mapping FILE)';
