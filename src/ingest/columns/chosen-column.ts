import { exportFields } from '../../domain/crm/crm.ts';
import { UsageProblem } from '../../domain/problem.ts';
import type { RowFilter, RowOrder } from '../../domain/runs/row-choice.ts';
import { headerKey, shownHeader, shownHeaders } from '../../domain/text/header-name.ts';
import { fieldsOfHeader } from './fields.ts';
import { fieldsNamed, isKnownName } from './known-headers.ts';

/** The columns of an export, as a run keeps them. */
export interface ReadColumns {
  readonly header: readonly string[];
  /** Column → field. */
  readonly mapping: Readonly<Record<string, unknown>>;
}

/** What decides about the rows of an export, by its columns. */
export interface RowChoice {
  readonly only: readonly RowFilter[];
  readonly orderBy: RowOrder | null;
}

/**
 * Finds a column by its name in the header, in any spelling, or by the field that it is mapped to.
 *
 * @returns positions from 0; several where columns share the name or the field: then the first filled cell counts
 */
function findColumns({ header, mapping }: ReadColumns, name: string): number[] {
  const where = (fits: (column: number) => boolean): number[] => [...header.keys()].filter(fits);
  const exact = where((column) => header[column] === name);
  if (exact.length > 0) return exact;
  const key = headerKey(name);
  const alike = where((column) => key !== '' && headerKey(header[column]!) === key);
  const fields = fieldsOfHeader(header, mapping);
  return alike.length > 0 ? alike : where((column) => fields[column] === name.toLowerCase());
}

/** Reads a named column of a record: the first filled cell. */
export function columnReader(columns: ReadColumns, name: string): (cells: readonly string[]) => string {
  const positions = findColumns(columns, name);
  return (cells) =>
    positions.map((position) => cells[position] ?? '').find((cell) => cell.trim() !== '') ?? '';
}

/**
 * Refuses `--only` and `--order-by` with a column that the export does not have.
 *
 * @param isShown every column may be named in the error; otherwise those with well-known names, because the first line
 *   of a file without a header is a contact
 * @throws Problem `column.unknown` that lists the columns
 */
export function refuseUnknownColumns(columns: ReadColumns, choice: RowChoice, isShown: boolean): void {
  const named = [
    ...choice.only.map(({ column }) => ({ column, flag: '--only' })),
    ...(choice.orderBy ? [{ column: choice.orderBy.column, flag: '--order-by' }] : []),
  ];
  const unknown = named.find(({ column }) => findColumns(columns, column).length === 0);
  if (!unknown) return;
  const names = columns.header.filter((name) => name !== '' && (isShown || isKnownName(headerKey(name))));
  throw new UsageProblem('column.unknown', `the file has no column "${shownHeader(unknown.column)}"`, {
    where: unknown.flag,
    next: `name one of its columns: ${shownHeaders(names)}`,
  });
}

/** What a person does whose `--only` names a person. */
export const describingColumn =
  'use a column that describes people, such as a stage or a country; or remove rows from the file';

const personalFields: ReadonlySet<unknown> = new Set(
  exportFields.filter((field) => field !== 'organization_name' && field !== 'domain'),
);

/**
 * Refuses `--only` with a value of a column that identifies people: the run and Temporal keep the value, also after an
 * erasure of the person.
 *
 * @param columns absent: before the export is known, by the names of the columns alone
 * @throws Problem `setting.invalid`
 */
export function refusePersonalColumns(only: readonly RowFilter[], columns?: ReadColumns): void {
  const fields = columns && fieldsOfHeader(columns.header, columns.mapping);
  const isPersonal = (column: string): boolean => {
    if (columns) return findColumns(columns, column).some((at) => personalFields.has(fields![at]));
    const named = fieldsNamed(headerKey(column));
    return named.length > 0 && named.every((field) => personalFields.has(field));
  };
  if (!only.some(({ column, values }) => values.some((value) => value !== '') && isPersonal(column))) return;
  throw new UsageProblem('setting.invalid', 'this condition seems to name a person', {
    where: '--only',
    next: describingColumn,
  });
}

/** A column's name for a log or Temporal: only well-known names, because the header of a file can be a contact. */
export function publicColumn(name: string): string {
  return isKnownName(headerKey(name)) ? `"${shownHeader(name)}"` : 'a column of its own';
}
