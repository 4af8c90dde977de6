import { sql, type Transaction } from 'kysely';
import type { Tables } from '../../db/schema.ts';

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
