import { exportFields } from '../../domain/crm/crm.ts';
import { UsageProblem } from '../../domain/problem.ts';
import type { RowFilter, RowOrder } from '../../domain/runs/row-choice.ts';
import { headerKey, formatHeader, formatHeaders } from '../../domain/text/header-name.ts';
import { fieldsOfHeader } from './fields.ts';
import { fieldsOfHeaderKey, isKnownHeaderKey } from './known-headers.ts';

export interface RecordedColumns {
  readonly header: readonly string[];
  /** Field of each column, by the column's name. */
  readonly mapping: Readonly<Record<string, unknown>>;
}

/** The rows to ask for (`--only`), and their order (`--order-by`). */
export interface RowChoice {
  readonly only: readonly RowFilter[];
  readonly orderBy: RowOrder | null;
}

/** Finds the positions of columns by their name in any spelling, or by their field. */
function findColumns({ header, mapping }: RecordedColumns, name: string): number[] {
  const where = (fits: (column: number) => boolean): number[] => [...header.keys()].filter(fits);
  const exact = where((column) => header[column] === name);
  if (exact.length > 0) return exact;
  const key = headerKey(name);
  const alike = where((column) => key !== '' && headerKey(header[column]!) === key);
  const fields = fieldsOfHeader(header, mapping);
  return alike.length > 0 ? alike : where((column) => fields[column] === name.toLowerCase());
}

/** Returns a function that reads the first filled cell of the columns with this name. */
export function columnReader(columns: RecordedColumns, name: string): (cells: readonly string[]) => string {
  const positions = findColumns(columns, name);
  return (cells) =>
    positions.map((position) => cells[position] ?? '').find((cell) => cell.trim() !== '') ?? '';
}

/**
 * Refuses a missing column of `--only` or `--order-by`.
 *
 * @param isShown false hides unknown names in the error: without a header, the first line is a contact
 */
export function refuseUnknownColumns(columns: RecordedColumns, choice: RowChoice, isShown: boolean): void {
  const named = [
    ...choice.only.map(({ column }) => ({ column, flag: '--only' })),
    ...(choice.orderBy ? [{ column: choice.orderBy.column, flag: '--order-by' }] : []),
  ];
  const unknown = named.find(({ column }) => findColumns(columns, column).length === 0);
  if (!unknown) return;
  const names = columns.header.filter(
    (name) => name !== '' && (isShown || isKnownHeaderKey(headerKey(name))),
  );
  throw new UsageProblem('column.unknown', `the file has no column "${formatHeader(unknown.column)}"`, {
    where: unknown.flag,
    next: `name one of its columns: ${formatHeaders(names)}`,
  });
}

/** The next step in errors about `--only` with a value that identifies a person. */
export const describingColumnAdvice =
  'use a column that describes people, such as a stage or a country; or remove rows from the file';

/** Fields that identify a person. A company alone does not. */
const personalFields: ReadonlySet<unknown> = new Set(
  exportFields.filter((field) => field !== 'organization_name' && field !== 'domain'),
);

/**
 * Refuses `--only` with a value that identifies a person: the run keeps the value even after an erasure.
 *
 * @param columns undefined before the export is read; then the name of the column decides
 */
export function refusePersonalColumns(only: readonly RowFilter[], columns?: RecordedColumns): void {
  const fields = columns && fieldsOfHeader(columns.header, columns.mapping);
  const isPersonal = (column: string): boolean => {
    if (columns) return findColumns(columns, column).some((at) => personalFields.has(fields![at]));
    const named = fieldsOfHeaderKey(headerKey(column));
    return named.length > 0 && named.every((field) => personalFields.has(field));
  };
  if (!only.some(({ column, values }) => values.some((value) => value !== '') && isPersonal(column))) return;
  throw new UsageProblem('setting.invalid', 'this condition seems to name a person', {
    where: '--only',
    next: describingColumnAdvice,
  });
}

/**
 * Names a column in logs and in Temporal, if the name is well known. Without a header, it would be a cell of a contact.
 */
export function columnNameForLogs(name: string): string {
  return isKnownHeaderKey(headerKey(name)) ? `"${formatHeader(name)}"` : 'a column of its own';
}
