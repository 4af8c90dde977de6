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
