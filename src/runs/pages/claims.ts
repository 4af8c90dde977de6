import { sql, type RawBuilder, type Transaction } from 'kysely';
import type { Tables } from '../../db/schema.ts';

/**
 * SQL text that says why a person claimed by another run is not asked for, over `claims c` and its row `run_rows
 * claimed`. A claim outlives its run only if the call for the person is unknown. An operator then decides.
 */
export const reasonOfClaim = sql<string>`case when claimed.outcome = 'unknown'
  then 'a call of run ' || c.run_id || ' for this person is unknown: enrich attempts list ' || c.run_id
  else 'being asked for by run ' || c.run_id end`;

/**
 * Claims people of a run, so that no other run asks the same service for them. A row whose person another run has
 * claimed gets the outcome `in_flight`.
 *
 * @param keys a relation of `identity_key` and `row_number`; rows with an outcome are left alone
 */
export async function claimPeople(
  transaction: Transaction<Tables>,
  { runId, service }: { readonly runId: string; readonly service: string },
  keys: RawBuilder<unknown>,
): Promise<void> {
  // In the order of the keys: two runs that claim the same people cannot deadlock.
  await sql`
    insert into claims (identity_key, service, run_id, row_number)
    select k.identity_key, ${service}, ${runId}, min(k.row_number)
    from ${keys} k join run_rows r on r.run_id = ${runId} and r.row_number = k.row_number and r.outcome is null
    group by k.identity_key order by k.identity_key
    on conflict (identity_key, service) do nothing
  `.execute(transaction);
  await sql`
    with taken as (
      select k.row_number, min(${reasonOfClaim}) as reason from ${keys} k
      join claims c on c.identity_key = k.identity_key and c.service = ${service} and c.run_id <> ${runId}
      left join run_rows claimed on claimed.run_id = c.run_id and claimed.row_number = c.row_number
      group by k.row_number
    ), dropped as (
      update run_rows r set outcome = 'in_flight', reason = t.reason
      from taken t where r.run_id = ${runId} and r.row_number = t.row_number and r.outcome is null
      returning r.row_number
    )
    delete from claims c using dropped d where c.run_id = ${runId} and c.row_number = d.row_number
  `.execute(transaction);
}
