import Papa from 'papaparse';
import { Problem, exitCodes } from '../../domain/problem.ts';
import { encodeText, type ByteText } from './byte-text.ts';
import { readByteText } from './read-text.ts';
import type { SurveyedExport } from './survey.ts';

/** How records and cells are told apart. */
export interface Dialect {
  readonly delimiter: string;
  /** `mixed`: CR alone ends some lines and LF others. CRLF and LF may alternate in any case. */
  readonly lineEnds: 'LF' | 'CRLF' | 'CR' | 'mixed';
}

export interface RecordBatch {
  readonly records: ByteText[][];
  /** Positions of records in which a quote neither opens nor closes a cell: the parser guessed where the cell ends. */
  readonly guessed: ReadonlySet<number>;
}

/** A record that is longer has lost its closing quote, or is no record. */
const longestRecord = 4 * 1024 * 1024;

const nothingGuessed: ReadonlySet<number> = new Set();

/**
 * Papaparse over text that arrives in pieces.
 *
 * This is its `Parser`, which all its streaming interfaces are built on. They would hide what is needed here: the duplex
 * stream drops parse errors, so that an unclosed quote swallows the rest of a file in silence; `chunk` does not say how
 * much text is still waiting for the end of its record.
 */
export class RecordParser {
  readonly #parser: Papa.Parser;
  readonly #dialect: Dialect;
  readonly #path: string;
  #rest = '';
  #line = 1;

  constructor(path: string, dialect: Dialect) {
    this.#path = path;
    this.#dialect = dialect;
    this.#parser = new Papa.Parser({
      delimiter: dialect.delimiter,
      // With LF the parser also ends lines at CRLF, but for the CR that is taken off below.
      newline: dialect.lineEnds === 'CR' ? '\r' : '\n',
    });
  }

  /** Number of the line, from 1, that the next record begins in. */
  get line(): number {
    return this.#line;
  }

  /**
   * @param text the next piece
   * @param last nothing follows
   * @throws Problem `export.unclosed-quote`, `export.record-too-long`
   */
  parse(text: ByteText, last: boolean): RecordBatch {
    const input = this.#withOneLineEnd(this.#rest + text, last);
    const { data, errors, meta } = this.#parser.parse(input, 0, !last) as Papa.ParseResult<ByteText[]>;
    let guessed: Set<number> | undefined;
    for (const error of errors) {
      if (error.code === 'MissingQuotes') throw this.#unclosedQuote(input, error.index ?? 0);
      if (error.row !== undefined && error.row < data.length) (guessed ??= new Set()).add(error.row);
    }
    if (this.#dialect.lineEnds !== 'CR' && input.includes('\r')) dropCarriageReturns(data);
    this.#rest = input.slice(meta.cursor);
    this.#line += countBreaks(input, meta.cursor, this.#dialect);
    if (this.#rest.length > longestRecord) throw this.#tooLong();
    return { records: data, guessed: guessed ?? nothingGuessed };
  }

  /** Only where both kinds occur: a replaced line end inside a quoted cell is the lesser evil there. */
  #withOneLineEnd(text: string, last: boolean): string {
    if (this.#dialect.lineEnds !== 'mixed') return text;
    // A CR at the very end may be the first half of a CRLF.
    return text.replaceAll(last ? /\r\n?/g : /\r\n|\r(?!$)/g, '\n');
  }

  #tooLong(): Problem {
    const ended = new Papa.Parser({ delimiter: this.#dialect.delimiter, newline: '\n' });
    const { errors } = ended.parse(this.#rest, 0, false) as Papa.ParseResult<string[]>;
    const open = errors.find((error) => error.code === 'MissingQuotes');
    if (open) return this.#unclosedQuote(this.#rest, open.index ?? 0);
    return new Problem('export.record-too-long', `a record is longer than ${longestRecord} characters`, {
      where: `${this.#path}, line ${this.#line}`,
      next: 'check that this is the CSV file that was meant, and the line ends and quotes near that line',
      exitCode: exitCodes.usage,
    });
  }

  #unclosedQuote(input: string, index: number): Problem {
    const line = this.#line + countBreaks(input, index, this.#dialect);
    return new Problem('export.unclosed-quote', 'a quote is opened and never closed', {
      where: `${this.#path}, line ${line}`,
      next: 'close the quote in that line, or export the file again; inside of quotes, a quote is written twice',
      exitCode: exitCodes.usage,
    });
  }
}

/**
 * The records of a surveyed file, batch by batch, with flat memory.
 *
 * @throws Problem `export.unclosed-quote`, `export.record-too-long`, `export.encoding`, `export.unreadable`
 */
export async function* readRecords(
  file: SurveyedExport,
  dialect: Dialect,
  signal?: AbortSignal,
): AsyncGenerator<RecordBatch> {
  const parser = new RecordParser(file.path, { ...dialect, delimiter: encodeText(dialect.delimiter) });
  for await (const bytes of readByteText(file, () => parser.line, signal)) yield parser.parse(bytes, false);
  yield parser.parse('' as ByteText, true);
}

function dropCarriageReturns(records: ByteText[][]): void {
  for (const record of records) {
    const last = record.length - 1;
    const cell = record[last]!;
    if (cell.charCodeAt(cell.length - 1) === 13) record[last] = cell.slice(0, -1) as ByteText;
  }
}

function countBreaks(text: string, end: number, { lineEnds }: Dialect): number {
  const lineBreak = lineEnds === 'CR' ? '\r' : '\n';
  let breaks = 0;
  for (let at = text.indexOf(lineBreak); at !== -1 && at < end; at = text.indexOf(lineBreak, at + 1))
    breaks += 1;
  return breaks;
}
