import { UsageProblem, type Problem } from '../../domain/problem.ts';
import { headerKey, formatHeader } from '../../domain/text/header-name.ts';
import {
  cellsFitField,
  filledCells,
  type ContactField,
  type ExportField,
  type ExportSample,
} from './fields.ts';
import type { ColumnReference } from './mapping-file.ts';

/** Fields that also need fitting cells, because a name is not enough: `Last` can be a date, and `id` an e-mail. */
const checkedFields: readonly ContactField[] = [
  'first_name',
  'last_name',
  'name',
  'contact_id',
  'person_id',
  'organization_name',
];

export type HeaderColumns = ReturnType<typeof createHeaderColumns>;

/** The columns of a header. Each column can be assigned to one field. */
export function createHeaderColumns(path: string, sample: ExportSample) {
  const where = `${path}, header`;
  const keys = sample.header.map(headerKey);
  const taken = new Set<number>();

  const nameOf = (column: number): string => sample.header[column]!;

  /** Lists the positions and names of columns without a field. */
  const free = (): (readonly [number, string])[] =>
    [...sample.header.entries()].filter(([column]) => !taken.has(column));

  /** Assigns the columns that a mapping file names for a field, in its order. Each column has one field. */
  function take(references: ColumnReference | readonly ColumnReference[]): number[] {
    const columns = [...new Set([references].flat().map((reference) => find(reference)))];
    const twice = columns.find((column) => taken.has(column));
    if (twice !== undefined) {
      const what = `column "${formatHeader(nameOf(twice))}" stands for two fields`;
      throw new UsageProblem('mapping.column-named-twice', what, {
        where: 'columns and ignore in the mapping file',
        next: 'name the column for one field; a contact without an id of its own needs no contact_id',
      });
    }
    for (const column of columns) taken.add(column);
    return columns;
  }

  /**
   * Assigns free columns with these names to a field. If two filled columns share a name, they are refused, or ignored
   * if a better column exists: in a joined report, the second e-mail can be that of the record's owner.
   */
  function claim(field: ExportField, names: readonly string[]): number[] {
    const { rows } = sample;
    const checked = checkedFields.find((each) => each === field);
    const isFilled = (column: number): boolean => rows.length === 0 || filledCells(rows, column).length > 0;
    const fits = (column: number): boolean => checked === undefined || cellsFitField(rows, column, checked);
    const columns: number[] = [];
    for (const key of new Set(names.map(headerKey))) {
      const fitting = withKey(key).filter(
        (column) => !taken.has(column) && !columns.includes(column) && fits(column),
      );
      const filled = fitting.filter(isFilled);
      const found = filled.length > 0 || field === 'contact_id' ? filled : fitting;
      if (found.length < 2) columns.push(...found);
      else if (columns.length === 0) throw ambiguous(field, found);
    }
    // A contact's id comes from one column, because ids of two systems must not be mixed.
    const claimed = field === 'contact_id' ? columns.slice(0, 1) : columns;
    for (const column of claimed) taken.add(column);
    return claimed;
  }

  function withKey(key: string): readonly number[] {
    return [...keys.keys()].filter((column) => key !== '' && keys[column] === key);
  }

  /** Returns the position of a column that a mapping file names, by its name or by its number from 1. */
  function find(reference: ColumnReference): number {
    const { header } = sample;
    const exact = [...header.keys()].filter((at) => header[at] === reference || at + 1 === reference);
    const key = typeof reference === 'string' ? headerKey(reference) : '';
    const found = exact.length > 0 ? exact : withKey(key);
    // The field is not known here, so the example in the error is about e-mails.
    if (found.length > 1) throw ambiguous('email', found);
    if (found.length === 1) return found[0]!;
    const what = `the mapping names a column "${formatHeader(String(reference))}" that the file does not have`;
    throw new UsageProblem('mapping.unknown-column', what, {
      where,
      next: `name a column as the header has it, or by its number (1 to ${header.length})`,
    });
  }

  function ambiguous(field: ExportField, found: readonly number[]): Problem {
    const numbers = found.map((column) => column + 1);
    const mapping = (value: string | number): string => `{"columns": {"${field}": ${value}}}`;
    const what = `columns ${numbers.join(' and ')} have the same name, "${formatHeader(nameOf(found[0]!))}"`;
    return new UsageProblem('mapping.ambiguous', what, {
      where,
      next:
        `say by number in a mapping file (--mapping FILE) which one is meant: ${mapping(numbers[0]!)}` +
        (field === 'email' ? `; if each of them has addresses: ${mapping(`[${numbers.join(', ')}]`)}` : ''),
    });
  }

  return { sample, where, nameOf, free, take, claim };
}
