import Papa from 'papaparse';
import { counted } from '../../domain/text/counted.ts';
import { Problem, exitCodes } from '../../domain/problem.ts';
import { encodeText, type ByteText } from './byte-text.ts';
import { DamageInspector, type Damage, type HalfCells } from './damage.ts';
import { countCharacter, lineBreakOf, type Dialect } from './dialect.ts';
import type { Layout } from './layout.ts';
import { readByteText } from './read-text.ts';
import { hasHalfQuotes, type RowShape } from './row-shape.ts';
import type { SurveyedExport } from './survey.ts';

export interface RecordBatch {
  readonly records: ByteText[][];
  /** Why records cannot be read, by their positions. */
  readonly faults: ReadonlyMap<number, string>;
  /** What the quotes of records in one line say of the lines around them, by their positions. */
  readonly halves: ReadonlyMap<number, HalfCells>;
  /** The file ends with these records, in the middle of a line. */
  readonly endsInLine?: boolean;
}

interface UnfinishedBatch {
  readonly records: ByteText[][];
  readonly faults: Map<number, string>;
  readonly halves: Map<number, HalfCells>;
}

/** What is known of the rows. */
export interface RowExpectation {
  readonly shape: RowShape;
  /** Records above the first row, with the header: they have other shapes. */
  readonly recordsBefore: number;
}

/** A record that is longer has lost its closing quote, or is no record. */
const longestRecord = 4 * 1024 * 1024;
/** Text that may be read again behind damaged quotes. Beyond it, quotes enclose no cells in this file. */
const longestReread = 64 * 1024 * 1024;

const unclear =
  'a quote stands inside of a cell with delimiters or line breaks: where the cell ends is not clear';
const restOfDamage = 'the line may be the rest of the record above, in which a quote is not closed';
const noFaults: ReadonlyMap<number, string> = new Map();

/**
 * Papaparse over text that arrives in pieces.
 *
 * This is its `Parser`, which all its streaming interfaces are built on. They would hide what is needed here: the
 * duplex stream drops parse errors, so that an unclosed quote swallows the rest of a file in silence; `chunk` does not
 * say how much text is still waiting for the end of its record.
 *
 * Where a quote has swallowed lines that look like rows, the line of the quote becomes a record with a fault, and
 * reading continues with the next line.
 */
export class RecordParser {
  readonly #parser: Papa.Parser;
  readonly #dialect: Dialect;
  readonly #path: string;
  readonly #inspector: DamageInspector | undefined;
  readonly #shape: RowShape | undefined;
  #recordsBefore: number;
  #rest = '';
  #line = 1;
  #reread = 0;
  /** Whether the next record is the rest of the damaged line above it: certainly where that line lacks cells. */
  #continues: 'no' | 'perhaps' | 'yes' = 'no';

  /** @param expected without it, records are taken as the quotes say */
  constructor(path: string, dialect: Dialect, expected?: RowExpectation) {
    this.#path = path;
    this.#dialect = dialect;
    this.#inspector = expected && new DamageInspector(dialect, expected.shape);
    this.#shape = expected?.shape;
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
   * @param last nothing follows
   * @throws Problem `export.unclosed-quote`, `export.record-too-long`
   */
  parse(text: ByteText, last: boolean): RecordBatch {
    const records: ByteText[][] = [];
    const faults = new Map<number, string>();
    const halves = new Map<number, HalfCells>();
    let input = this.#withOneLineEnd(this.#rest + text, last);
    for (;;) {
      const parsed = this.#parser.parse(input, 0, !last) as Papa.ParseResult<ByteText[]>;
      const { data, errors, meta } = parsed;
      if (this.#dialect.lineEnds !== 'CR' && input.includes('\r')) dropCarriageReturns(data);
      const exempt = Math.min(this.#recordsBefore, data.length);
      const doubtful: number[] = [];
      const found = new Map<number, HalfCells>();
      const damage = this.#inspector?.find(input, parsed, { exempt, last, doubtful, halves: found });
      for (const index of doubtful) faults.set(records.length + index, unclear);
      for (const [index, half] of found) {
        if (index < (damage?.index ?? data.length)) halves.set(records.length + index, half);
      }
      if (damage === undefined) {
        const unclosed = errors.find((error) => error.code === 'MissingQuotes');
        if (unclosed) throw this.#unclosedQuote(input, unclosed.index ?? 0);
        this.#append(data, records, faults);
        this.#recordsBefore -= exempt;
        this.#line += this.#breaks(input, meta.cursor);
        input = input.slice(meta.cursor);
        if (input.length <= longestRecord) break;
        // Never two times the same: what is found here is shorter than the text that is left.
        const overlong = this.#inspector?.findOpen(input);
        if (overlong === undefined || this.#recordsBefore > 0) throw this.#tooLong(input);
        input = this.#takeOut(input, overlong, { records, faults, halves });
        continue;
      }
      this.#append(data.slice(0, damage.index), records, faults);
      this.#recordsBefore -= exempt;
      input = this.#takeOut(input, damage, { records, faults, halves });
    }
    const endsInLine = last && this.#rest + text !== '' && !/[\r\n]$/.test(this.#rest + text);
    this.#rest = input;
    return { records, endsInLine, halves, faults: faults.size === 0 ? noFaults : faults };
  }

  /** Puts the damaged lines in as what they are, and returns the text behind them. */
  #takeOut(input: string, damage: Damage, { records, faults, halves }: UnfinishedBatch): string {
    const line = this.#line + this.#breaks(input, damage.start);
    if (damage.kind === 'swallowed') {
      faults.set(
        records.length,
        `the quote in line ${line} is not closed: it would swallow ` +
          `${counted(damage.linesSwallowed, 'line')} below, which are read on their own`,
      );
      halves.set(records.length, this.#inspector!.halvesOf(input.slice(damage.start, damage.end)));
    }
    this.#append(damage.records, records, faults);
    this.#line += this.#breaks(input, damage.end);
    const rest = input.slice(damage.end);
    const isOpen = damage.kind === 'swallowed' && hasHalfQuotes(input.slice(damage.start, damage.end));
    if (!isOpen) this.#continues = 'no';
    else if (damage.records[0]!.length < (this.#shape?.width ?? 0)) this.#continues = 'yes';
    else this.#continues = rest.startsWith('"') ? 'no' : 'perhaps';
    this.#reread += rest.length;
    if (this.#reread <= longestReread) return rest;
    throw new Problem('export.unclosed-quote', 'too many quotes are opened and never closed', {
      where: `${this.#path}, line ${line}`,
      next:
        'export the file again with quotes written twice inside of cells; a mapping file can say "quotes": ' +
        '"none" where they enclose no cells',
      exitCode: exitCodes.usage,
    });
  }

  #append(more: readonly ByteText[][], records: ByteText[][], faults: Map<number, string>): void {
    for (const record of more) {
      const closesQuote = hasHalfQuotes(record[0]!);
      const isRest = this.#continues === 'yes' || this.#shape?.continuesCell(record) === true;
      if (this.#continues !== 'no' && (closesQuote || (isRest && record.length > 1)))
        faults.set(records.length, restOfDamage);
      if (closesQuote || record.length > 1) this.#continues = 'no';
      records.push(record);
    }
  }

  #breaks(text: string, end: number): number {
    return countCharacter(text, lineBreakOf(this.#dialect), end);
  }

  /** Only where both kinds occur: a replaced line end inside a quoted cell is the lesser evil there. */
  #withOneLineEnd(text: string, last: boolean): string {
    if (this.#dialect.lineEnds !== 'mixed') return text;
    // A CR at the very end may be the first half of a CRLF.
    return text.replaceAll(last ? /\r\n?/g : /\r\n|\r(?!$)/g, '\n');
  }

  #tooLong(input: string): Problem {
    const ended = new Papa.Parser({ delimiter: this.#dialect.delimiter, newline: '\n' });
    const { errors } = ended.parse(input, 0, false) as Papa.ParseResult<string[]>;
    const open = errors.find((error) => error.code === 'MissingQuotes');
    if (open) return this.#unclosedQuote(input, open.index ?? 0);
    return new Problem('export.record-too-long', `a record is longer than ${longestRecord} characters`, {
      where: `${this.#path}, line ${this.#line}`,
      next: 'check that this is the CSV file that was meant, and the line ends and quotes near that line',
      exitCode: exitCodes.usage,
    });
  }

  #unclosedQuote(input: string, index: number): Problem {
    const line = this.#line + this.#breaks(input, index);
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
