import Papa from 'papaparse';
import { formatNumber } from '../../domain/text/format.ts';
import { UsageProblem } from '../../domain/problem.ts';

/** How cells are separated, and whether quotes enclose them. LF and CRLF end lines. */
export interface Dialect {
  readonly delimiter: string;
  readonly quotes?: 'none' | undefined;
}

export const usualDelimiters: readonly string[] = [',', ';', '\t', '|'];

/** Maximum length of a record. A longer one shows wrong quotes or line ends. */
const longestRecord = 4 * 1024 * 1024;

/**
 * Makes a parser of pieces of text that `createSyntaxCheck` has accepted. The incomplete record at the end of a piece
 * waits for the next piece: only Papaparse's internal `Parser` tells where it begins.
 */
export function createParser(path: string, dialect: Dialect): (piece: string, isLast: boolean) => string[][] {
  const parser = papaparse(dialect);
  let rest = '';
  let records = 0;
  const what = `a record is longer than ${formatNumber(longestRecord)} characters`;
  return (piece, isLast) => {
    const text = rest + piece;
    const { data, meta } = parser.parse(text, 0, !isLast) as Papa.ParseResult<string[]>;
    rest = text.slice(meta.cursor);
    records += data.length;
    if (rest.length > longestRecord)
      throw new UsageProblem('export.record-too-long', what, {
        where: `${path}, record ${records + 1} from the top`,
        next: 'check that this is the right CSV file, and check the line ends and quotes near that record',
      });
    if (text.includes('\r')) dropCarriageReturns(data);
    return data;
  };
}

/** Parses the first records of a text. @param isWhole true if the text ends with its last record */
export function firstRecords(
  text: string,
  dialect: Dialect,
  maxRecords: number,
  isWhole: boolean,
): string[][] {
  const records = papaparse(dialect, maxRecords).parse(text, 0, !isWhole).data as string[][];
  dropCarriageReturns(records);
  return records;
}

/** @param preview maximum number of records; 0 parses all */
function papaparse({ delimiter, quotes }: Dialect, preview = 0): Papa.Parser {
  return new Papa.Parser({
    delimiter,
    newline: '\n',
    preview,
    fastMode: quotes === 'none' ? true : undefined,
  });
}

/** Removes the CR of CRLF lines from last cells, because Papaparse splits lines at LF. */
function dropCarriageReturns(records: readonly string[][]): void {
  for (const record of records) {
    const last = record.length - 1;
    const cell = record[last]!;
    if (cell.charCodeAt(cell.length - 1) === 13) record[last] = cell.slice(0, -1);
  }
}

/**
 * Refuses quotes and line ends that RFC 4180 does not allow: Papaparse accepts them and can join several contacts into
 * one record. The check keeps no text, so memory stays bounded even if a quote never closes.
 */
export function createSyntaxCheck(path: string, { delimiter, quotes }: Dialect) {
  let isQuoted = false;
  /** Last character of a piece, if its meaning depends on the next piece. */
  let kept = delimiter;
  let line = 1;
  let openLine = 1;

  /** Checks the next piece of text. @throws Problem `export.quote`, `export.line-ends` */
  function push(piece: string): void {
    const text = kept + piece;
    const quoteFrom = (at: number): number => (quotes === 'none' ? -1 : text.indexOf('"', at));
    let start = 0;
    let opened = -1;
    for (let quote = quoteFrom(0); quote !== -1; quote = quoteFrom(start)) {
      // Two adjacent quotes are a doubled quote, without text between them to check.
      if (!isQuoted && quote > start) {
        checkOutside(text, start, quote);
        opened = quote;
      }
      isQuoted = !isQuoted;
      start = quote + 1;
    }
    // A quote at the end of a piece may be the first half of a doubled quote.
    const endsWithQuote = !isQuoted && start === text.length;
    if (!isQuoted && !endsWithQuote) checkOutside(text, start, text.length);
    kept = isQuoted ? '' : endsWithQuote ? '"' : text.at(-1)!;
    isQuoted ||= endsWithQuote;
    if (isQuoted && opened !== -1) openLine = lineAt(text, opened);
    line = lineAt(text, text.length - kept.length);
  }

  /** Ends the check. @throws Problem `export.unclosed-quote` */
  function finish(): void {
    if (!isQuoted || kept === '"') return;
    throw new UsageProblem('export.unclosed-quote', 'a quote is opened and never closed', {
      where: `${path}, line ${openLine}`,
      next: `close the quote in that line, or export the file again; ${quotesAsText}`,
    });
  }

  /** Checks text outside of quotes, up to the next quote or the end of the piece. */
  function checkOutside(text: string, start: number, end: number): void {
    // Most parts between quoted cells are a single delimiter.
    if (end === start + 1 && text[start] === delimiter) return;
    const isBeforeQuote = end < text.length;
    const refuse = (type: string, at: number, what: string, next: string): never => {
      throw new UsageProblem(type, what, { where: `${path}, line ${lineAt(text, at)}`, next });
    };
    const correct = `correct the line, or export the file again; ${quotesAsText}`;
    if (start > 0 && !endsCell(text[start]!))
      refuse('export.quote', start, 'text follows the quote that ends a cell', correct);
    // A CR at the end of a piece may be the first half of a CRLF.
    const part = text.slice(start, !isBeforeQuote && text.endsWith('\r') ? end - 1 : end);
    const alone = part.search(/\r(?!\n)/);
    if (alone !== -1)
      refuse(
        'export.line-ends',
        start + alone,
        'a line ends with CR alone',
        'export the file again, or save it with LF or CRLF as line ends; put cells with line breaks into quotes',
      );
    if (isBeforeQuote && !endsCell(text[end - 1]!))
      refuse('export.quote', end, 'a quote stands inside of a cell without quotes', correct);
  }

  function endsCell(character: string): boolean {
    return character === delimiter || character === '\n' || character === '\r';
  }

  /** Returns the number of the line at a position in the current piece. */
  function lineAt(text: string, end: number): number {
    return line + countLines(text, end);
  }

  return { push, finish };
}

const quotesAsText =
  'inside of quotes, a quote is written twice; if quotes are ordinary characters of this file, write quotes: none in ' +
  'a mapping file (--mapping FILE)';

function countLines(text: string, end: number): number {
  let count = 0;
  for (let at = text.indexOf('\n'); at !== -1 && at < end; at = text.indexOf('\n', at + 1)) count += 1;
  return count;
}
