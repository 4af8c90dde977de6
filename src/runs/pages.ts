import { sql, type RawBuilder } from 'kysely';
import type { OpenedPage } from '../contract/activities.ts';
import { peoplePerCall, peoplePerPage } from '../domain/runs/batching.ts';
import { requestedFieldGroups } from '../domain/late-results/delivery-kinds.ts';
import { ctidsOfRows } from '../db/expressions.ts';
import { withEarlierNote } from '../db/run-states.ts';
import { claimKnownPeople } from './claims.ts';
import { addKnownEmails } from '../keys/key-lookups.ts';
import type { Warehouse } from '../db/database.ts';
import { earlierLookups, type LookupRequest } from './planning/drop-rows.ts';
import { registerWaitingBatches, type BatchesOfRun } from '../ledger/admit.ts';
import { dropSuppressed } from '../suppression/drop-suppressed.ts';
import { withSuppressionsLocked } from '../suppression/suppression-list.ts';
import type { RunOptions } from '../domain/runs/run-options.ts';

/** What a run with these options requests for each person. */
export function lookupRequestOf(options: RunOptions): LookupRequest {
  return {
    freshness: options.freshness,
    fieldGroups: requestedFieldGroups(options),
    service: options.service,
  };
}

/**
 * Opens a page (1,000 people): claims its people, and drops people that another run has looked up since the plan.
 * People are claimed per page, because a backfill of several days would keep them from the nightly run. Opening a page
 * twice is safe.
 *
 * @param page page number, starting at 1
 * @returns the numbers of the batches (ten people each) with people to call for
 */
export async function openPage(
  warehouse: Warehouse,
  runId: string,
  page: number,
  asked: LookupRequest,
): Promise<OpenedPage> {
  return withSuppressionsLocked(warehouse.database, async (transaction) => {
    // A simultaneous erasure either commits before this claim, or removes the claim.
    await sql`
      create temporary table page_keys on commit drop as
      select identity_key, r.row_number, p.left_out
      from ${peopleWithRows}
      cross join unnest(r.keys) as identity_key
      where p.run_id = ${runId} and r.outcome is null and ${isOnPage(page)}
    `.execute(transaction);
    const run = { runId, service: asked.service };
    await addKnownEmails(transaction, asked.service, sql`page_keys`, sql`, left_out`);
    await claimKnownPeople(transaction, run, sql`page_keys`);
    // The check comes after the claims. Another run releases a claim and records the lookup in one transaction, so an
    // earlier check could miss this lookup and the run would pay again.
    await dropSuppressed(transaction, runId, sql`select row_number from page_keys`);
    await sql`
      with ${dropFreshRows(runId, sql`page_keys`, asked)}
      select count(*) from dropped
    `.execute(transaction);
    const { rows: open } = await sql<{ batch: number; people: number }>`
      select p.position / ${peoplePerCall} + 1 as batch, count(*)::int as people
      from ${peopleWithRows}
      where p.run_id = ${runId} and r.outcome is null and ${isOnPage(page)}
      group by 1 order by 1
    `.execute(transaction);
    const batches = open.map(({ batch }) => batch);
    await registerWaitingBatches(transaction, { runId, batches });
    return { batches, people: open.reduce((sum, { people }) => sum + people, 0) };
  });
}

/**
 * Common table expressions that give fresh rows the outcome `fresh` and release their claims; `dropped` has the rows.
 *
 * @param keys a relation of `identity_key`, `row_number` and `left_out`
 */
export function dropFreshRows(
  runId: string,
  keys: RawBuilder<unknown>,
  asked: LookupRequest,
): RawBuilder<unknown> {
  const ofFresh = sql`select row_number from fresh`;
  // The tables are materialized because PostgreSQL would otherwise evaluate the keys again for each lookup, when a new
  // warehouse has no statistics yet.
  return sql`
    keys as materialized (
      select * from ${keys} k
    ), fresh as (
      select m.row_number, min(a.run_id) as run_id
      from ${earlierLookups(asked, sql`keys`, 'few')}
      where m.is_fresh and m.field_group <> all (m.left_out)
      group by m.row_number, m.left_out
      having count(distinct m.field_group) + cardinality(m.left_out) = ${asked.fieldGroups.length}
    ), unclaimed as (
      delete from claims where ctid = any(${ctidsOfRows('claims', runId, ofFresh)})
    ), dropped as (
      update run_rows r set outcome = 'fresh',
        reason = ${withEarlierNote(sql`'asked since the plan was made, by run ' || f.run_id`)}
      from fresh f
      where r.ctid = any(${ctidsOfRows('run_rows', runId, ofFresh)})
        and r.row_number = f.row_number
        and r.outcome is null
      returning r.row_number
    )`;
}

/** The first page of a run with people who have no outcome; undefined if there is none. */
export async function firstOpenPage(warehouse: Warehouse, runId: string): Promise<number | undefined> {
  const first = await sql<{ position: number }>`
    select p.position
    from ${peopleWithRows}
    where p.run_id = ${runId} and r.outcome is null
    order by p.position
    limit 1
  `.execute(warehouse.database);
  const position = first.rows[0]?.position;
  return position === undefined ? undefined : Math.floor(position / peoplePerPage) + 1;
}

/**
 * SQL join: the row `r` of each person `p`, read by its key. In an ordinary join, without statistics about a new run,
 * PostgreSQL read every row of the run for each person.
 */
const theirRow = sql`
  cross join lateral (
    select * from run_rows r where r.run_id = p.run_id and r.row_number = p.row_number offset 0
  ) r`;

/** SQL tables: people `p` of runs with their rows `r`. The caller adds conditions on `p`. */
export const peopleWithRows = sql`run_people p ${theirRow}`;

/**
 * SQL table: people `p` of batches. Each batch is a range of positions, because for a list of positions PostgreSQL 15
 * and 16 read all people of the run, twelve times per call.
 */
export const peopleOfBatches = ({ runId, batches }: BatchesOfRun): RawBuilder<unknown> => sql`
  unnest(${batches}::integer[]) as b (batch)
  cross join lateral (
    select * from run_people
    where run_id = ${runId}
      and position >= (b.batch - 1) * ${peoplePerCall} and position < b.batch * ${peoplePerCall}
    offset 0
  ) p`;

/** SQL tables: the people `p` of batches with their rows `r`. */
export const peopleOfBatchesWithRows = (batches: BatchesOfRun): RawBuilder<unknown> =>
  sql`${peopleOfBatches(batches)} ${theirRow}`;

/** SQL condition: a person `p` of a run is on a page. @param page page number, starting at 1 */
function isOnPage(page: number): RawBuilder<boolean> {
  return sql`p.position >= ${(page - 1) * peoplePerPage} and p.position < ${page * peoplePerPage}`;
}
