import { sql, type Transaction } from 'kysely';
import { fitsFilters, sortKey } from '../../domain/runs/row-choice.ts';
import { columnReader, type ReadColumns, type RowChoice } from '../../ingest/columns/chosen-column.ts';
import type { Tables } from '../../db/schema.ts';

const rowsPerFetch = 10_000;

/**
 * Fills `plan_choice` with the rows that `--only` leaves out, and with what `--order-by` sorts rows by. Reads the cells
 * only where one of the two is given.
 *
 * @returns whether `--only` leaves out every row
 */
export async function applyRowChoice(
  transaction: Transaction<Tables>,
  runId: string,
  columns: ReadColumns,
  { only, orderBy }: RowChoice,
): Promise<boolean> {
  await sql`
    create temporary table plan_choice
      (row_number integer primary key, is_excluded boolean not null, number double precision, text text)
    on commit drop
  `.execute(transaction);
  if (only.length === 0 && orderBy === null) return false;
  const readers = new Map(only.map(({ column }) => [column, columnReader(columns, column)]));
  const fits = fitsFilters(only);
  const ordered = orderBy && columnReader(columns, orderBy.column);
  let [read, excluded] = [0, 0];
  for (let last = 0, isOver = false; !isOver;) {
    const rows = await transaction
      .selectFrom('run_rows')
      .select(['row_number', 'raw'])
      .where('run_id', '=', runId)
      .where('row_number', '>', last)
      .where('outcome', 'is', null)
      .orderBy('row_number')
      .limit(rowsPerFetch)
      .execute();
    const choices = rows.map(({ row_number: row, raw }) => {
      const cells = JSON.parse(raw) as string[];
      const isExcluded = !fits((column) => readers.get(column)!(cells));
      const key = ordered === null ? undefined : sortKey(ordered(cells));
      return { row, isExcluded, number: key?.number ?? null, text: key?.text?.replaceAll('\0', '') ?? null };
    });
    await sql`
      insert into plan_choice
      select * from unnest(${choices.map(({ row }) => row)}::integer[],
        ${choices.map(({ isExcluded }) => isExcluded)}::boolean[],
        ${choices.map(({ number }) => number)}::double precision[], ${choices.map(({ text }) => text)}::text[])
    `.execute(transaction);
    read += choices.length;
    excluded += choices.filter(({ isExcluded }) => isExcluded).length;
    last = rows.at(-1)?.row_number ?? last;
    isOver = rows.length < rowsPerFetch;
  }
  await sql`analyze plan_choice`.execute(transaction);
  return read > 0 && excluded === read;
}
