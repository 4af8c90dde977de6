import { sql, type Transaction } from 'kysely';
import type { Tables } from '../../db/schema.ts';
import { nameCells } from '../../db/expressions.ts';
import {
  compareNameCells,
  type NameCells,
  type NameVerdict,
} from '../../domain/identity/names/name-agreement.ts';
import { counted } from '../../domain/text/format.ts';
import { identifiesAlone } from '../../keys/key-lookups.ts';
import { addWarning } from '../runs.ts';

/**
 * Fills `plan_people`: each row that shares a key with another row → the first row of its person.
 *
 * Each round gives a row the least label among its neighbours, and then the label of that label. The number of rounds
 * grows with the logarithm of the longest chain of rows that share keys pairwise.
 */
export async function findSamePeople(transaction: Transaction<Tables>): Promise<void> {
  await sql`
    create temporary table plan_shared on commit drop as
    select k.identity_key, k.row_number from plan_keys k
    join (select identity_key from plan_keys group by identity_key having count(*) > 1) s using (identity_key)
  `.execute(transaction);
  await sql`
    create temporary table plan_people on commit drop as
    select row_number, min(row_number) as first_row from plan_shared group by row_number
  `.execute(transaction);
  await sql`alter table plan_people add primary key (row_number)`.execute(transaction);
  await sql`analyze plan_shared`.execute(transaction);
  for (;;) {
    const spread = await sql`
      with least_of_key as (
        select s.identity_key, min(p.first_row) as first_row
        from plan_shared s join plan_people p using (row_number) group by s.identity_key
      ), least_of_row as (
        select s.row_number, min(l.first_row) as first_row
        from plan_shared s join least_of_key l using (identity_key) group by s.row_number
      )
      update plan_people p set first_row = l.first_row from least_of_row l
      where l.row_number = p.row_number and l.first_row < p.first_row
    `.execute(transaction);
    if (!spread.numAffectedRows) return;
    await sql`
      update plan_people p set first_row = f.first_row from plan_people f
      where f.row_number = p.first_row and f.first_row < p.first_row
    `.execute(transaction);
  }
}

/**
 * Fills `plan_repeated` with the rows that repeat the record id of another row. No call asks for such a row. The row
 * that stands for the record is one that `--only` asks for before one that it leaves out; then one that identifies a
 * person alone; then the first. Another row of the same person, if there is one, represents the person: one that
 * `--only` asks for before one that it leaves out.
 *
 * If rows with a record id name different people, all rows of the record are in `plan_repeated`, and are contested.
 */
export async function findRepeatedRecords(transaction: Transaction<Tables>, runId: string): Promise<void> {
  const isShared = sql`not exists (select from unnest(keys) as k where ${identifiesAlone(sql`k`)})`;
  await sql`
    create temporary table plan_repeated on commit drop as
    select r.row_number, record.row_number as record_row, false as is_contested
    from (
      select distinct on (contact_id) contact_id, row_number
      from plan_rows
      join (select contact_id from plan_rows group by contact_id having count(*) > 1) repeated using (contact_id)
      left join plan_choice using (row_number)
      order by contact_id, is_excluded is true, ${isShared}, row_number
    ) record
    join plan_rows r on r.contact_id = record.contact_id and r.row_number <> record.row_number
  `.execute(transaction);
  await findContested(transaction, runId);
  await sql`
    update plan_people p set first_row = stands.row_number
    from (
      select first_row, coalesce(
        min(row_number) filter (where record_row is null and is_excluded is not true),
        min(row_number) filter (where record_row is null)) as row_number
      from plan_people
      left join plan_repeated using (row_number)
      left join plan_choice using (row_number)
      group by first_row
    ) stands
    where stands.first_row = p.first_row and stands.row_number <> p.first_row
  `.execute(transaction);
}

/** A row of `plan_repeated` with the names of both rows. */
interface RepeatedRow {
  readonly row: number;
  readonly record: number;
  readonly names: NameCells;
  readonly recordNames: NameCells;
}

/** A file can repeat an id in all of its rows. */
const rowsPerBatch = 100_000;

/** Marks the records of `plan_repeated` whose rows are people with different names and without a key in common. */
async function findContested(transaction: Transaction<Tables>, runId: string): Promise<void> {
  const contested: { readonly row: number; readonly record: number }[] = [];
  for (let after = 0; ;) {
    const { rows } = await sql<RepeatedRow>`
      select q.row_number as row, q.record_row as record,
        ${nameCells('r')} as names,
        ${nameCells('f')} as "recordNames"
      from plan_repeated q
      join run_rows r on r.run_id = ${runId} and r.row_number = q.row_number
      join run_rows f on f.run_id = ${runId} and f.row_number = q.record_row
      left join plan_people one on one.row_number = q.row_number
      left join plan_people other on other.row_number = q.record_row
      where q.row_number > ${after}
        and (one.first_row is distinct from other.first_row or one.first_row is null)
        and row(r.first_name, r.last_name, r.name) is distinct from row(f.first_name, f.last_name, f.name)
      order by q.row_number
      limit ${rowsPerBatch}
    `.execute(transaction);
    for (const { row, record, names, recordNames } of rows)
      if (areDifferent(compareNameCells(names, recordNames))) contested.push({ row, record });
    if (rows.length < rowsPerBatch) break;
    after = rows.at(-1)!.row;
  }
  const [first] = contested;
  if (first === undefined) return;
  const { rows: records } = await sql<{ row: number }>`
    with contested as (
      select record_row, min(row_number) as other_row
      from unnest(${contested.map(({ row }) => row)}::int[], ${contested.map(({ record }) => record)}::int[])
        as c (row_number, record_row)
      group by record_row
    ), marked as (
      update plan_repeated q set is_contested = true from contested c where q.record_row = c.record_row
    )
    insert into plan_repeated select record_row, other_row, true from contested
    returning row_number as row
  `.execute(transaction);
  await addWarning(
    transaction,
    runId,
    `${counted(records.length, 'record id')} ${records.length === 1 ? 'belongs' : 'belong'} to different people, ` +
      `such as in rows ${first.record} and ${first.row}: these rows are not asked for`,
  );
}

function areDifferent(verdict: NameVerdict): boolean {
  return verdict === 'differ' || verdict === 'other_first_name';
}
