import { sql, type Transaction } from 'kysely';
import { fitsFilters, sortKey } from '../../domain/runs/row-choice.ts';
import { columnReader, type ReadColumns, type RowChoice } from '../../ingest/columns/chosen-column.ts';
import type { Tables } from '../../db/schema.ts';

const rowsPerFetch = 10_000;

/**
 * Fills `plan_excluded` with the rows that `--only` leaves out, and `plan_order` with what `--order-by` sorts rows by.
 * Reads the cells only where one of the two is given.
 */
export async function applyRowChoice(
  transaction: Transaction<Tables>,
  runId: string,
  columns: ReadColumns,
  { only, orderBy }: RowChoice,
): Promise<void> {
  await sql`create temporary table plan_excluded (row_number integer primary key) on commit drop`.execute(
    transaction,
  );
  await sql`
    create temporary table plan_order (row_number integer primary key, number double precision, text text)
    on commit drop
  `.execute(transaction);
  if (only.length === 0 && orderBy === null) return;
  const readers = new Map(only.map(({ column }) => [column, columnReader(columns, column)]));
  const fits = fitsFilters(only);
  const ordered = orderBy && columnReader(columns, orderBy.column);
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
    const records = rows.map(({ row_number: row, raw }) => ({ row, cells: JSON.parse(raw) as string[] }));
    const excluded = records.filter(({ cells }) => !fits((column) => readers.get(column)!(cells)));
    await sql`insert into plan_excluded select unnest(${excluded.map(({ row }) => row)}::integer[])`.execute(
      transaction,
    );
    if (ordered) {
      const keys = records.map(({ cells }) => sortKey(ordered(cells)));
      await sql`
        insert into plan_order
        select * from unnest(${records.map(({ row }) => row)}::integer[],
          ${keys.map(({ number }) => number)}::double precision[],
          ${keys.map(({ text }) => text?.replaceAll('\0', '') ?? null)}::text[])
      `.execute(transaction);
    }
    last = rows.at(-1)?.row_number ?? last;
    isOver = rows.length < rowsPerFetch;
  }
  await sql`analyze plan_excluded, plan_order`.execute(transaction);
}
