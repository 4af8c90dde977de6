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

const quotesAsText =
  'inside of quotes, a quote is written twice; if quotes are ordinary characters of this file, write quotes: none in ' +
  'a mapping file (--mapping FILE)';

/** The place of a sign that was not searched in this text. */
const unsearched = -2;

/** What a file is refused for, by the type of the problem. */
const refusals = {
  quote: `correct the line, or export the file again; ${quotesAsText}`,
  'unclosed-quote': `close the quote in that line, or export the file again; ${quotesAsText}`,
  'line-ends':
    'export the file again, or save it with one kind of line ends; put cells with line breaks into quotes',
  'record-too-long':
    'check that this is the right CSV file, and check the line ends and quotes near that line',
} as const;

/**
 * Reads records (RFC 4180) of text that arrives in pieces. Refuses other quotes and line ends: read leniently, they can
 * make one record of several contacts.
 */
export class RecordParser {
  readonly #path: string;
  readonly #dialect: Dialect;
  readonly #isLenient: boolean;
  #text = '';
  #isLast = false;
  /** Where the record begins, its line in the file, and its line ends in quotes. */
  #begin = 0;
  #line = 1;
  #breaks = 0;
  /** Where the next cell begins; where the next delimiter and line end are, -1 if the text has none. */
  #at = 0;
  #delimiter = unsearched;
  #newline = unsearched;

  /** @param isLenient reads wrong quotes and line ends as text, to compare delimiters */
  constructor(path: string, dialect: Dialect, isLenient = false) {
    this.#path = path;
    this.#dialect = dialect;
    this.#isLenient = isLenient;
  }

  /**
   * @param piece the next text
   * @param isLast the text ends with the piece
   * @param most number of records after which the rest is not read
   * @throws Problem `export.quote`, `export.line-ends`, `export.unclosed-quote`, `export.record-too-long`
   */
  parse(piece: string, isLast: boolean, most = Number.POSITIVE_INFINITY): LocatedRecord[] {
    this.#text += piece;
    this.#isLast = isLast;
    this.#begin = 0;
    this.#delimiter = this.#newline = unsearched;
    const records: LocatedRecord[] = [];
    while (this.#begin < this.#text.length && records.length < most) {
      this.#at = this.#begin;
      this.#breaks = 0;
      const cells = this.#record();
      if (cells === undefined) break;
      records.push({ cells, line: this.#line });
      this.#line += this.#breaks + 1;
      this.#begin = this.#at;
    }
    this.#text = this.#text.slice(this.#begin);
    this.#begin = 0;
    if (this.#text.length > longestRecord)
      this.#refuse('record-too-long', 0, `a record is longer than ${formatNumber(longestRecord)} characters`);
    return records;
  }

  /** The cells of the next record; undefined: it does not end in the text. */
  #record(): string[] | undefined {
    const { delimiter, newline, quotes } = this.#dialect;
    const cells: string[] = [];
    for (;;) {
      const isQuoted = quotes !== 'none' && this.#text[this.#at] === '"';
      const cell = isQuoted ? this.#quotedCell() : this.#plainCell();
      if (cell === undefined) return undefined;
      cells.push(cell);
      const end = this.#text[this.#at];
      if (end === undefined) return this.#isLast ? cells : undefined;
      this.#at += 1;
      if (end === newline) return cells;
      if (end !== delimiter) throw new Error('a cell ends in front of other text');
    }
  }

  #plainCell(): string | undefined {
    const { delimiter, newline, quotes } = this.#dialect;
    const text = this.#text;
    const from = this.#at;
    if (this.#delimiter !== -1 && this.#delimiter < from) this.#delimiter = text.indexOf(delimiter, from);
    if (this.#newline !== -1 && this.#newline < from) this.#newline = text.indexOf(newline, from);
    const isLastCell = this.#delimiter === -1 || (this.#newline !== -1 && this.#newline < this.#delimiter);
    const found = isLastCell ? this.#newline : this.#delimiter;
    if (found === -1 && !this.#isLast) return undefined;
    const end = found === -1 ? text.length : found;
    this.#at = end;
    const isCrLf = isLastCell && newline === '\n' && end > from && text[end - 1] === '\r';
    const cell = text.slice(from, isCrLf ? end - 1 : end);
    if (this.#isLenient) return cell;
    if (quotes !== 'none' && cell.includes('"'))
      this.#refuse('quote', from + cell.indexOf('"'), 'a quote stands inside of a cell without quotes');
    this.#refuseLineEnd(cell, from);
    return cell;
  }

  #quotedCell(): string | undefined {
    const { delimiter, newline } = this.#dialect;
    const text = this.#text;
    const open = this.#at;
    let end = text.indexOf('"', open + 1);
    let isDoubled = false;
    while (end !== -1 && text[end + 1] === '"') {
      isDoubled = true;
      end = text.indexOf('"', end + 2);
    }
    const isTooLong = text.length - this.#begin > longestRecord;
    if (end === -1 && (this.#isLast || isTooLong) && !this.#isLenient)
      this.#refuse('unclosed-quote', open, 'a quote is opened and never closed');
    // The next piece can begin with the second of two quotes, or with the LF of a CRLF.
    const isCut =
      end === -1 || end + 1 === text.length || (text[end + 1] === '\r' && end + 2 === text.length);
    if (isCut && !this.#isLast) return undefined;
    const inner = text.slice(open + 1, end === -1 ? text.length : end);
    const cell = isDoubled ? inner.replaceAll('""', '"') : inner;
    this.#breaks += countCharacter(inner, newline);
    this.#at = end === -1 ? text.length : end + 1;
    const behind = text[this.#at];
    if (behind === delimiter || behind === newline || behind === undefined) return cell;
    const [next] = /^\r?(?=\n|$)/.exec(text.slice(this.#at, this.#at + 2)) ?? [];
    if (next === '\r' && newline === '\n') {
      this.#at += 1;
      return cell;
    }
    if (this.#isLenient) {
      const more = this.#plainCell();
      return more === undefined ? undefined : cell + more;
    }
    if (behind !== '\n' && behind !== '\r')
      this.#refuse('quote', this.#at, 'text follows the quote that ends a cell');
    this.#refuseLineEnd(behind, this.#at);
    return cell;
  }

  /** A text without quotes has no line ends of another kind than the file. */
  #refuseLineEnd(text: string, at: number): void {
    const other = text.indexOf(this.#dialect.newline === '\n' ? '\r' : '\n');
    if (other === -1) return;
    const what = 'lines end in different ways: with CR alone, and with LF';
    this.#refuse('line-ends', at + other, what);
  }

  #refuse(type: keyof typeof refusals, at: number, what: string): never {
    const line = this.#line + countCharacter(this.#text.slice(this.#begin, at), this.#dialect.newline);
    const where = `${this.#path}, line ${line}`;
    throw new UsageProblem(`export.${type}`, what, { where, next: refusals[type] });
  }
}
