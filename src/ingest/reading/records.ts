import Papa from 'papaparse';
import { counted, nounFor } from '../../domain/text/counted.ts';
import { UsageProblem, type Problem } from '../../domain/problem.ts';
import { formatNumber } from '../../domain/text/format-number.ts';
import { encodeText, type ByteText } from './bytes/byte-text.ts';
import { DamageInspector, type Damage } from './damage/damage.ts';
import { countCharacter, lineBreakOf, type Dialect } from './dialect.ts';
import type { Layout } from './layout.ts';
import { readByteText } from './bytes/read-text.ts';
import type { RowShape } from './damage/row-shape.ts';
import type { SurveyedExport } from './bytes/survey.ts';

export interface RecordBatch {
  readonly records: ByteText[][];
  /** Why records cannot be read, by their positions. */
  readonly faults: ReadonlyMap<number, string>;
  /** The line in the file, from 1, that a record begins in. */
  readonly lineOf: (index: number) => number;
  /** The file ends with these records, in the middle of a line. */
  readonly endsInLine?: boolean;
}

/** What is known of the rows. */
export interface RowExpectation {
  readonly shape: RowShape;
  /** Records above the first row, with the header: they have other shapes. */
  readonly recordsBefore: number;
}

/** A piece of the text, and the records that were read in it. */
interface Piece {
  readonly input: string;
  /** The piece ends at the end of the file. */
  readonly last: boolean;
  readonly records: ByteText[][];
  readonly faults: Map<number, string>;
  readonly lines: RecordLines;
}

/** Maximum length of a record; a longer record has lost its closing quote, or is no record. */
const longestRecord = 4 * 1024 * 1024;
/** Maximum text that is read again after damaged quotes. Beyond it, the quotes of this file enclose no cells. */
const longestReread = 64 * 1024 * 1024;

const noFaults: ReadonlyMap<number, string> = new Map();

/**
 * Papaparse over text that arrives in pieces.
 *
 * This is its `Parser`, which all its streaming interfaces are built on. They would hide what is needed here: the
 * duplex stream drops parse errors, so that an unclosed quote swallows the rest of a file in silence; `chunk` does not
 * say how much text is still waiting for the end of its record.
 *
 * Damaged lines become one record with a fault, and reading continues with the next line. The last row waits for the
 * next piece of text: what follows may show that it is damaged.
 */
export class RecordParser {
  readonly #parser: Papa.Parser;
  readonly #dialect: Dialect;
  readonly #path: string;
  readonly #inspector: DamageInspector | undefined;
  #recordsBefore: number;
  #rest = '';
  #line = 1;
  #reread = 0;

  /** @param expected undefined: records are read as their quotes say */
  constructor(path: string, dialect: Dialect, expected?: RowExpectation) {
    this.#path = path;
    this.#dialect = dialect;
    this.#inspector = expected && new DamageInspector(dialect, expected.shape);
    this.#recordsBefore = expected?.recordsBefore ?? 0;
    this.#parser = new Papa.Parser({
      delimiter: dialect.delimiter,
      // With LF the parser also ends lines at CRLF, but for the CR that is taken off below.
      newline: lineBreakOf(dialect),
      fastMode: dialect.quotes === 'none' ? true : undefined,
    });
  }

  /** Number of the line, from 1, that the next record begins in. */
  get line(): number {
    return this.#line;
  }

  /**
   * @param text the next piece
   * @param last the text is the last piece
   * @throws Problem `export.unclosed-quote`, `export.record-too-long`
   */
  parse(text: ByteText, last: boolean): RecordBatch {
    const written = this.#rest + text;
    const piece: Piece = {
      input: this.#withOneLineEnd(written, last),
      last,
      records: [],
      faults: new Map(),
      lines: new RecordLines(lineBreakOf(this.#dialect), this.#line),
    };
    this.#inspector?.restart();
    let read = this.#readUntilDamage(piece, 0);
    while (read.damage !== undefined && read.damage.kind !== 'undecided') {
      this.#takeOut(piece, read.damage);
      read = this.#readUntilDamage(piece, read.damage.end);
    }
    const waiting = last ? undefined : this.#inspector?.above[0];
    const end = waiting?.start ?? read.end;
    this.#rest = piece.input.slice(end);
    this.#line += this.#breaks(piece.input, end);
    const records = piece.records.slice(0, waiting?.index);
    const { faults, lines } = piece;
    for (const index of faults.keys()) if (index >= records.length) faults.delete(index);
    return {
      records,
      endsInLine: last && written !== '' && !/[\r\n]$/.test(written),
      faults: faults.size === 0 ? noFaults : faults,
      lineOf: (index) => lines.lineOf(records, index),
    };
  }

  /** Reads records from a position on. @returns the first damage, if there is one, and where the records before end */
  #readUntilDamage(piece: Piece, start: number): { readonly damage?: Damage; readonly end: number } {
    const { input, last, records, faults } = piece;
    const rest = input.slice(start);
    const parsed = this.#parser.parse(rest, 0, !last) as Papa.ParseResult<ByteText[]>;
    const { data, errors, meta } = parsed;
    if (this.#dialect.lineEnds !== 'CR' && rest.includes('\r')) dropCarriageReturns(data);
    const exempt = Math.min(this.#recordsBefore, data.length);
    const from = { index: records.length, start };
    const damage = this.#inspector?.find({ text: input, from, parsed, exempt, last, faults });
    this.#recordsBefore -= exempt;
    if (damage !== undefined) {
      for (const record of data.slice(0, Math.max(0, damage.index - from.index))) records.push(record);
      return { damage, end: damage.start };
    }
    const unclosed = errors.find((error) => error.code === 'MissingQuotes');
    if (unclosed) throw this.#unclosedQuote(input, start + (unclosed.index ?? 0));
    for (const record of data) records.push(record);
    const end = start + meta.cursor;
    if (input.length - end <= longestRecord) return { end };
    // This ends, because each damage is shorter than the text that is left.
    const overlong =
      this.#recordsBefore === 0
        ? this.#inspector?.findOverlong(input, { index: records.length, start: end })
        : undefined;
    if (overlong === undefined) throw this.#tooLong(input, end);
    return { damage: overlong, end };
  }

  /** Replaces the parsed records by the damaged record or the rows that the lines are. */
  #takeOut({ input, records, faults, lines }: Piece, damage: Damage): void {
    const { kind, index, start, end, linesSwallowed } = damage;
    const line = this.#line + this.#breaks(input, start);
    records.length = index;
    for (const each of faults.keys()) if (each >= index) faults.delete(each);
    if (kind === 'torn') {
      const lastLine = this.#line + this.#breaks(input, end - 1);
      faults.set(
        index,
        lastLine > line
          ? `lines ${line} to ${lastLine} of the file are one damaged record: ` +
              'a quote, delimiter or line end is missing or surplus'
          : `the quote in line ${line} of the file is not closed: it would swallow ` +
              `${counted(linesSwallowed, 'line')} below, which ` +
              nounFor(linesSwallowed, 'is read on its own', 'are read on their own'),
      );
    }
    records.push(...damage.records);
    for (let at = index; at < records.length; at += 1) lines.begin(at, line);
    lines.begin(records.length, this.#line + this.#breaks(input, end));
    this.#reread += input.length - end;
    if (this.#reread <= longestReread) return;
    throw new UsageProblem('export.unclosed-quote', 'too many quotes are opened and never closed', {
      where: `${this.#path}, line ${line}`,
      next:
        'export the file again with quotes written twice inside of cells; if quotes enclose no cells, write ' +
        '"quotes": "none" in a mapping file',
    });
  }

  #breaks(text: string, end: number): number {
    return countCharacter(text, lineBreakOf(this.#dialect), end);
  }

  /** Only if both kinds of line ends occur. A replaced line end inside a quoted cell is the smaller harm then. */
  #withOneLineEnd(text: string, last: boolean): string {
    if (this.#dialect.lineEnds !== 'mixed') return text;
    // A CR at the very end may be the first half of a CRLF.
    return text.replaceAll(last ? /\r\n?/g : /\r\n|\r(?!$)/g, '\n');
  }

  #tooLong(input: string, start: number): Problem {
    const ended = new Papa.Parser({ delimiter: this.#dialect.delimiter, newline: '\n' });
    const { errors } = ended.parse(input.slice(start), 0, false) as Papa.ParseResult<string[]>;
    const open = errors.find((error) => error.code === 'MissingQuotes');
    if (open)
      return this.#unclosedQuote(
        input,
        start + (open.index ?? 0),
        `within ${formatNumber(longestRecord)} characters`,
      );
    return new UsageProblem(
      'export.record-too-long',
      `a record is longer than ${formatNumber(longestRecord)} characters`,
      {
        where: `${this.#path}, line ${this.#line + this.#breaks(input, start)}`,
        next: 'check that this is the right CSV file, and check the line ends and quotes near that line',
      },
    );
  }

  #unclosedQuote(input: string, index: number, within?: string): Problem {
    const line = this.#line + this.#breaks(input, index);
    const message = `a quote is opened and ${within === undefined ? 'never closed' : `not closed ${within}`}`;
    return new UsageProblem('export.unclosed-quote', message, {
      where: `${this.#path}, line ${line}`,
      next: 'close the quote in that line, or export the file again; inside of quotes, a quote is written twice',
    });
  }
}

/**
 * Reads the records of a surveyed file in batches, with bounded memory.
 *
 * @param shape of the rows below the header
 * @throws Problem `export.unclosed-quote`, `export.record-too-long`, `export.encoding`, `export.unreadable`
 */
export async function* readRecords(
  file: SurveyedExport,
  { dialect, recordsBefore }: Pick<Layout, 'dialect' | 'recordsBefore'>,
  shape: RowShape,
  signal?: AbortSignal,
): AsyncGenerator<RecordBatch> {
  const parser = new RecordParser(
    file.path,
    { ...dialect, delimiter: encodeText(dialect.delimiter) },
    { shape, recordsBefore: recordsBefore + 1 },
  );
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

/** The lines in the file that the records of a batch begin in. */
class RecordLines {
  readonly #lineBreak: string;
  /** Records whose line is known. The lines of the records below follow from the line breaks in cells. */
  readonly #known: { readonly index: number; readonly line: number }[];

  /** @param line of the first record, from 1 */
  constructor(lineBreak: string, line: number) {
    this.#lineBreak = lineBreak;
    this.#known = [{ index: 0, line }];
  }

  /** Says in which line a record begins. Records from there on are read again. */
  begin(index: number, line: number): void {
    while (this.#known.length > 0 && this.#known.at(-1)!.index >= index) this.#known.pop();
    this.#known.push({ index, line });
  }

  lineOf(records: readonly (readonly string[])[], index: number): number {
    const above = this.#known.findLast((each) => each.index <= index)!;
    let { line } = above;
    for (const cells of records.slice(above.index, index))
      line += cells.reduce((lines, cell) => lines + countCharacter(cell, this.#lineBreak), 1);
    return line;
  }
}
