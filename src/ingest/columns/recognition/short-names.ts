import { headerKey } from '../../../domain/text/header-name.ts';
import type { Columns } from '../columns.ts';
import type { FirstRows } from '../fields.ts';

type NameColumns = Readonly<Record<'first_name' | 'last_name' | 'name', readonly number[]>>;

/**
 * Takes the free columns `First` and `Last`, if the file then has both parts of the name: alone, such a header says too
 * little. A column with digits has no names, because `Last` can be a date.
 *
 * @param known the columns that are known by longer names
 * @returns the columns of the parts of the name that were not known
 */
export function takeShortNames(
  columns: Columns,
  { header, rows }: FirstRows,
  known: NameColumns,
): Partial<NameColumns> {
  if (known.name.length > 0) return {};
  const free = (key: string): number[] =>
    [...header.keys()].filter(
      (column) =>
        headerKey(header[column]!) === key &&
        columns.isFree(column) &&
        rows.every((row) => !/\d/.test(row[column] ?? '')),
    );
  const { first_name: firstNames, last_name: lastNames } = known;
  const first = firstNames.length > 0 ? firstNames : free('first');
  const last = lastNames.length > 0 ? lastNames : free('last');
  // Two columns of one name: neither is chosen by guess.
  if ((firstNames.length === 0 && first.length !== 1) || (lastNames.length === 0 && last.length !== 1))
    return {};
  for (const column of [...first, ...last]) if (columns.isFree(column)) columns.take(column + 1);
  return { first_name: first, last_name: last };
}
