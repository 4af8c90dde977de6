import { UsageProblem } from '../../domain/problem.ts';
import { countCharacter } from './export-text.ts';
import type { Dialect } from './record-parser.ts';

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
