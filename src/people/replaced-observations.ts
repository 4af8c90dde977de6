import { sql, type RawBuilder } from 'kysely';
import type { Warehouse } from '../db/database.ts';
import { lockSuppressionsShared } from '../privacy/suppressions.ts';
import { lockLog, project } from './project.ts';

const observationsPerBatch = 5_000;

/**
 * SQL condition over an observation `o` and its person `p`: no current value comes from the observation, so that the
 * projections stay the same without it. Observations of undone runs stay, because an undo can be reverted. While an
 * undo or revert is unfinished, projections do not agree with the log, so all observations stay.
 */
const isReplaced = sql`
  not exists (select from runs where undo_unfinished)
  and not exists (select from runs u where u.run_id = o.run_id and u.undone_at is not null)
  and not exists (select from jsonb_each_text(p.said_by) as cited where cited.value = o.observation_id::text)
  and not p.emails @> jsonb_build_array(jsonb_build_object('observation_id', o.observation_id))
  and not p.phones @> jsonb_build_array(jsonb_build_object('observation_id', o.observation_id))
  and not exists (
    select from organization_values g where g.service = o.service and g.organization_key = o.organization_key
      and g.observation_id = o.observation_id)
  and (o.organization_key is null or o.organization_key is distinct from p.organization_key or exists (
    select from observations n
    where n.service = o.service and n.person_key = o.person_key and n.organization_key = o.organization_key
      and n.observation_id = (p.said_by ->> 'organization_name')::bigint
      and (n.facts -> 'organization_name') ?& array(select jsonb_object_keys(o.facts -> 'organization_name'))))`;

/**
 * Query of the observations of people who have others: most people have one observation, which stays. PostgreSQL turns
 * no scalar subquery with a limit into a join, so it reads an index entry for each observation before it reads people.
 * As a condition beside the others it read all people for each batch.
 */
const observationsBesideOthers = (which: RawBuilder<unknown>): RawBuilder<unknown> => sql`
  select o.*
  from observations o
  where ${which} and (
    select true
    from observations n
    where n.service = o.service and n.person_key = o.person_key and n.observation_id <> o.observation_id
    limit 1)
  offset 0`;

/** Counts replaced observations that are older than a time. @param before null: none */
export async function countReplaced(
  { database }: Warehouse,
  before: RawBuilder<Date | null>,
): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    select count(*)::int as count
    from (${observationsBesideOthers(sql`o.recorded_at < ${before}`)}) o
    join people p using (service, person_key)
    where ${isReplaced}
  `.execute(database);
  return rows[0]!.count;
}

/**
 * Removes observations that are older than a time and that newer observations have replaced. The newest observation of
 * a value stays. An undo of a later run cannot restore values of removed observations.
 *
 * @param before null: nothing is removed
 * @param signal ends it between two batches
 * @returns how many were removed
 */
export async function removeReplaced(
  { database }: Warehouse,
  before: RawBuilder<Date | null>,
  signal: AbortSignal,
): Promise<number> {
  let removed = 0;
  for (let after: string | null = '0'; after !== null && !signal.aborted;) {
    const from: string = after;
    const batch = await database.transaction().execute(async (transaction) => {
      // No undo begins before the end of the batch.
      await lockSuppressionsShared(transaction);
      const read = await sql<{ last: string | null }>`
        select max(observation_id) as last from (
          select observation_id from observations
          where observation_id > ${from} and recorded_at < ${before}
          order by observation_id limit ${observationsPerBatch}
        ) batch
      `.execute(transaction);
      const last = read.rows[0]!.last;
      const inBatch = sql`o.observation_id > ${from} and o.observation_id <= ${last} and o.recorded_at < ${before}`;
      const candidates = sql`
        select o.observation_id, service, person_key
        from (${observationsBesideOthers(inBatch)}) o
        join people p using (service, person_key)
        where ${isReplaced}`;
      const { rows: people } = await sql<{ service: string; keys: string[] }>`
        select service, array_agg(distinct person_key) as keys from (${candidates}) c group by service
      `.execute(transaction);
      let count = 0;
      for (const { service, keys } of people) {
        const of = { service, people: keys, contacts: [] };
        await lockLog(transaction, of);
        const gone = await sql`
          delete from observations where observation_id in (
            select observation_id from (${candidates}) c
            where service = ${service} and person_key = any(${keys}::text[]))
        `.execute(transaction);
        count += Number(gone.numAffectedRows ?? 0n);
        await project(transaction, of);
      }
      return { last, count };
    });
    removed += batch.count;
    after = batch.last;
  }
  return removed;
}
