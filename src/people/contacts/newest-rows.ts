import { sql, type Kysely, type RawBuilder } from 'kysely';
import { exportOrder, isExport, recordOrder } from '../../db/valid-entries.ts';
import type { Tables } from '../../db/schema.ts';
import type { RowKey } from '../../keys/contact-key.ts';
import { unnestRows } from '../../keys/unnest-keys.ts';
import { readMatchedContacts, readRowsToDecide, type ContactState } from './contact-states.ts';

/** Condition on `runs`: other runs decide about the contacts of its rows as well. */
export const isDecided = (service: RawBuilder<unknown>) => sql<boolean>`(runs.finished_at is not null
  and ${sql.raw(isExport('runs'))}
  and runs.options ->> 'service' = ${service})`;

/**
 * Query of the row of a contact in the newest export, the first of its record.
 *
 * @param which condition on the runs, `runs`
 */
export const newestRow = (
  source: RawBuilder<unknown>,
  contactId: RawBuilder<unknown>,
  which: RawBuilder<boolean>,
) => sql`
  select n.*
  -- \`offset 0\` keeps the lookups apart. In a join, PostgreSQL read the rows of all runs.
  from (select * from run_rows where contact_id = ${contactId} offset 0) n
  cross join lateral (select * from runs where run_id = n.run_id offset 0) runs
  where runs.source = ${source} and ${which}
  order by ${sql.raw(exportOrder('runs'))} desc, ${sql.raw(recordOrder('n'))}
  limit 1`;

/**
 * Reads rows of any runs, as far as something is to be decided about their contacts.
 *
 * @param withCompared as for `readRowsToDecide`
 */
export async function readRows(
  database: Kysely<Tables>,
  service: string,
  rows: readonly RowKey[],
  withCompared = false,
): Promise<ContactState[]> {
  if (rows.length === 0) return [];
  const which = sql<boolean>`(r.run_id, r.row_number) in (select * from ${unnestRows(rows)})`;
  return readRowsToDecide(database, service, which, withCompared);
}

/** Query of the contacts of a run's rows, and of the contacts that the run or its undo decided about. */
export const contactsOfRun = (runId: string) => sql`
  select runs.source, r.contact_id
  from run_rows r
  join runs on runs.run_id = r.run_id
  where r.run_id = ${runId}
  union
  select source, contact_id from contact_matches where run_id = ${runId} or while_undone @> array[${runId}]`;

const contactsDecidedBy = (runId: string) => sql`
  select distinct source, contact_id from contact_matches where run_id = ${runId}`;

/**
 * Finds the newest rows that ended runs of the same service have of the contacts of a run.
 *
 * @param which `any`: of all contacts that an undo of the run concerns; `newer`: of newer exports, of the
 *   contacts that it decided about
 */
export async function findNewestRows(
  database: Kysely<Tables>,
  runId: string,
  which: 'any' | 'newer',
): Promise<readonly RowKey[]> {
  const isNamed = sql<boolean>`${isDecided(sql`self.options ->> 'service'`)}
    and (${which === 'any'} or ${sql.raw(exportOrder('runs'))} > ${sql.raw(exportOrder('self'))})`;
  const affected = which === 'any' ? contactsOfRun(runId) : contactsDecidedBy(runId);
  // Materialized: as a part of the join, PostgreSQL read all decisions to find those of the run.
  const { rows } = await sql<RowKey>`
    with affected as materialized (${affected})
    select newest.run_id as "runId", newest.row_number as "rowNumber"
    from runs self
    cross join affected a
    cross join lateral (${newestRow(sql`a.source`, sql`a.contact_id`, isNamed)}) newest
    where self.run_id = ${runId}
    order by a.source, a.contact_id
  `.execute(database);
  return rows;
}

/**
 * Reads contacts to which a run gave a person although a newer export has the contact. Of that export only the record
 * is left: retention has cleared or removed the row.
 */
export async function readOvertakenContacts(
  database: Kysely<Tables>,
  service: string,
  runId: string,
): Promise<ContactState[]> {
  const overtaken = sql`
    with newer_runs as materialized (
      select newer.run_id
      from runs self
      join runs newer on newer.source = self.source
        and ${sql.raw(exportOrder('newer'))} > ${sql.raw(exportOrder('self'))}
        and ${sql.raw(isExport('newer'))}
      where self.run_id = ${runId}
    )
    select distinct m.source, m.contact_id
    from contact_matches m
    join contacts c on c.source = m.source and c.contact_id = m.contact_id and c.match_id = m.match_id
    join contact_records k on k.source = m.source and k.contact_id = m.contact_id
    where m.run_id = ${runId} and k.run_id in (select run_id from newer_runs)`;
  return readMatchedContacts(database, service, overtaken, true);
}
