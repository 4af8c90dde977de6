import { counted, nounFor } from '../../../domain/text/counted.ts';
import { shownHeader } from '../../../domain/text/header-name.ts';
import type { ColumnMap } from '../column-map.ts';
import type { OptOutColumn } from './opt-out-columns.ts';
import { optOutAnswer, valueForm, type OptOutAnswer } from './opt-out-answers.ts';

/** Answers repeat: an export has few different ones. */
const mostRemembered = 1_000;
const longestRemembered = 100;

/** Reads the cells of an opt-out column. */
export function createOptOutReader({
  column,
  polarity,
  values,
}: OptOutColumn): (cells: readonly string[]) => OptOutAnswer {
  const remembered = new Map<string, OptOutAnswer>();
  return (cells) => {
    const cell = cells[column];
    if (cell === undefined || cell === '') return 'not opted out';
    const known = remembered.get(cell);
    if (known !== undefined) return known;
    const answer = optOutAnswer(cell, polarity, values);
    if (remembered.size < mostRemembered && cell.length <= longestRemembered) remembered.set(cell, answer);
    return answer;
  };
}

/** Counts the cells of opt-out columns that are not understood: their contacts are treated as opted out. */
export class UnreadAnswers {
  readonly #columns: readonly {
    readonly optOut: OptOutColumn;
    readonly read: (cells: readonly string[]) => OptOutAnswer;
    rows: number;
    first: string;
  }[];

  constructor({ optOuts }: ColumnMap) {
    this.#columns = optOuts
      .filter(({ isDescription }) => isDescription !== true)
      .map((optOut) => ({ optOut, read: createOptOutReader(optOut), rows: 0, first: '' }));
  }

  add(cells: readonly string[], row: number, line: number): void {
    for (const column of this.#columns) {
      if (column.read(cells) !== 'not understood') continue;
      if (column.rows === 0) column.first = `row ${row}, line ${line}`;
      column.rows += 1;
    }
  }

  /** A warning for each column with such cells. @param header the names of the columns */
  warnings(header: readonly string[]): string[] {
    return this.#columns.flatMap(({ optOut: { column, scope }, rows, first }) => {
      if (rows === 0) return [];
      const forbidden = scope === 'calls' ? 'they get no phone number' : 'they are not looked up';
      const field = scope === 'calls' ? 'opted_out_of_calls' : 'opted_out';
      return [
        `column "${shownHeader(header[column]!)}" says who has opted out, and ${counted(rows, 'row')} ` +
          `${nounFor(rows, 'has', 'have')} an answer that is not understood (the first is ${first}): ` +
          `these people count as opted out, and ${forbidden}; to list the answers that mean "opted out": ` +
          `--mapping FILE with {"columns": {"${field}": {"column": ${column + 1}, "values": ["…"]}}}`,
      ];
    });
  }
}

/** A warning names so many values at most. */
const shownValues = 5;

/** Finds the values of a mapping file that no cell has: a mistyped value pays for people who have opted out. */
export class AbsentValues {
  readonly #columns: readonly {
    readonly column: number;
    readonly absent: Set<string>;
    readonly compared: Set<string>;
  }[];

  constructor({ optOuts }: ColumnMap) {
    this.#columns = optOuts.flatMap(({ column, values }) =>
      values === undefined ? [] : [{ column, absent: new Set(values), compared: new Set() }],
    );
  }

  add(cells: readonly string[]): void {
    for (const { column, absent, compared } of this.#columns) {
      const cell = cells[column];
      if (absent.size === 0 || cell === undefined || cell === '' || compared.has(cell)) continue;
      absent.delete(valueForm(cell));
      if (compared.size < mostRemembered && cell.length <= longestRemembered) compared.add(cell);
    }
  }

  /** A warning for each column of which a value is absent. @param header the names of the columns */
  warnings(header: readonly string[]): string[] {
    return this.#columns.flatMap(({ column, absent }) => {
      if (absent.size === 0) return [];
      const shown = [...absent].slice(0, shownValues).map((value) => `"${value}"`);
      const more = absent.size > shown.length ? ` and ${absent.size - shown.length} more` : '';
      return [
        `no row has ${shown.join(', ')}${more} in column "${shownHeader(header[column]!)}", which the mapping ` +
          'lists as opted out: no person of this file has opted out so, or it is mistyped and they are paid for',
      ];
    });
  }
}
