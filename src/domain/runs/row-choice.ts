import { UsageProblem, type Problem } from '../problem.ts';

/** The order of calls: a column of the export and the direction in which its values are sorted. */
export interface RowOrder {
  readonly column: string;
  readonly descending: boolean;
}

/** A condition on rows: the run makes calls only for rows with one of these values in the column. */
export interface RowFilter {
  readonly column: string;
  readonly values: readonly string[];
}

/** Reads `--order-by`: a column, with `desc` to order its greatest values first. @throws Problem `setting.invalid` */
export function parseRowOrder(text: string): RowOrder {
  const [, column = '', direction] = /^(.*?)(?:\s+(asc|desc))?$/is.exec(text.trim()) ?? [];
  const name = unquoted(column);
  if (name !== '') return { column: name, descending: direction?.toLowerCase() === 'desc' };
  throw wrong('--order-by', 'no column is named', 'write a column, such as "Lead Score desc"');
}

/** Writes an order as `--order-by` takes it. */
export function formatRowOrder({ column, descending }: RowOrder): string {
  return `${quotedWhere(/\s(?:asc|desc)$|^"/i, column)}${descending ? ' desc' : ''}`;
}

/**
 * Reads `--only` flags: `COLUMN=VALUE`, or `COLUMN in VALUE,VALUE`. Values of one column are alternatives; a row must
 * match the flags of every column. @throws Problem `setting.invalid`
 */
export function parseRowFilters(texts: readonly string[]): RowFilter[] {
  const values = new Map<string, string[]>();
  for (const text of texts) {
    const [, quoted, plain, isOne, rest = ''] =
      /^\s*(?:"((?:[^"]|"")+)"|([^"].*?))\s*(?:(=)|\sin\s)(.*)$/is.exec(text) ?? [];
    const column = quoted?.replaceAll('""', '"') ?? plain?.trim() ?? '';
    if (column === '')
      throw wrong(
        '--only',
        `"${text}" is not a column with a value`,
        'write COLUMN=VALUE, or COLUMN in VALUE,VALUE; write a column name with "=" or "in" in double quotes',
      );
    const given = isOne ? [rest.trim()] : rest.split(',').map((value) => value.trim());
    values.set(column, [...new Set([...(values.get(column) ?? []), ...given])].sort());
  }
  return [...values].map(([column, all]) => ({ column, values: all }));
}

/** Writes filters as `--only` takes them. */
export function formatRowFilters(filters: readonly RowFilter[]): string[] {
  return filters.flatMap(({ column, values }) =>
    values.map((value) => `${quotedWhere(/=|\sin\s|^"/i, column)}=${value}`),
  );
}

/** Returns a test of a row: true if the row passes all filters. `valueOf` reads its cells by column. */
export function createRowTest(
  filters: readonly RowFilter[],
): (valueOf: (column: string) => string) => boolean {
  const wanted = filters.map(({ column, values }) => ({ column, values: new Set(values.map(comparable)) }));
  return (valueOf) => wanted.every(({ column, values }) => values.has(comparable(valueOf(column))));
}

/** The sort key of a cell: its number, or else its text. */
export function cellSortKey(cell: string): { readonly number: number | null; readonly text: string | null } {
  const text = comparable(cell);
  const plain = text.replace(/^([-+]?\d{1,3}(?:,\d{3})+)(\.\d+)?$/, (whole) => whole.replaceAll(',', ''));
  const isNumber = /^[-+]?(?:\d+\.?\d*|\.\d+)%?$/.test(plain);
  return { number: isNumber ? Number.parseFloat(plain) : null, text: text === '' ? null : text };
}

/** Returns a cell for comparisons, without case, repeated spaces and different Unicode forms. */
function comparable(text: string): string {
  return text.normalize('NFKC').replace(/\s+/g, ' ').trim().toLowerCase();
}

/** Removes the double quotes around a column name. */
function unquoted(text: string): string {
  const trimmed = text.trim();
  return /^".*"$/s.test(trimmed) && trimmed.length > 1 ? trimmed.slice(1, -1).replaceAll('""', '"') : trimmed;
}

/** Quotes a column name that matches the pattern, because the flag would be read differently without quotes. */
function quotedWhere(pattern: RegExp, column: string): string {
  return pattern.test(column) ? `"${column.replaceAll('"', '""')}"` : column;
}

function wrong(where: string, what: string, next: string): Problem {
  return new UsageProblem('setting.invalid', what, { where, next });
}
