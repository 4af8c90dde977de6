import { createHash } from 'node:crypto';
import { sql, type RawBuilder, type Transaction } from 'kysely';
import { peoplePerCall } from '../../contract/batch-sizes.ts';
import { lateFieldGroups, phoneGroups } from '../../domain/late-results/delivery-kinds.ts';
import { repeatedRecordReason, samePersonReason } from '../../domain/runs/outcome.ts';
import { formatRowFilters, type RowOrder } from '../../domain/runs/row-choice.ts';
import { reasonOfClaim } from '../pages/claims.ts';
import type { Warehouse } from '../../db/database.ts';
import { addHashesOfOtherRows, addKnownAddresses } from '../../people/known/hashed-addresses.ts';
import { applyRowChoice } from './apply-row-choice.ts';
import type { Asked } from './earlier-lookups.ts';
import { findKnown } from './find-known.ts';
import { countRows, type PlannedRows } from './planned-rows.ts';
import { findRepeatedRecords, findSamePeople } from './same-people.ts';
import { addWarning } from '../runs.ts';
import { positionPilot } from '../quality-gate/pilot.ts';
import { clearSuppressedRow, hasSuppressions, listedRows, recordKey } from '../../privacy/suppressions.ts';
import type { ReadColumns } from '../../ingest/columns/chosen-column.ts';
import type { RunOptions } from '../../domain/runs/run-options.ts';
import type { Tables } from '../../db/schema.ts';

/**
 * Who began the run and its priority are no part of the plan: `enrich backfill` applies the plan that `enrich plan` has
 * shown. Pilot and gates are: a plan that was approved with them must not run without them.
 */
const optionsOutsideHash: readonly (keyof RunOptions)[] = ['serviceOf', 'schedule', 'priority'];
const terms = sql<string>`(options - ${optionsOutsideHash}::text[])::text || coalesce(mapping::text, '')`;

/** Fewer rows need no statistics. With more, missing statistics turned a hash join into nested loops. */
const rowsWorthAnalyzing = 10_000;

/**
 * Gives each staged row of a run an outcome or a position among the people to ask for. A few set-based statements in
 * one transaction plan a million rows. A run that has a plan stays as it is.
 *
 * The first of these outcomes wins: malformed and no_identifier (from ingest), suppressed (by the export, then by the
 * list), duplicate, cancelled (left out by `--only`), fresh, in_flight. Rows are one person if they share an identity
 * key, directly or through other rows.
 *
 * @param runId a run whose file is staged
 * @param pilot number of people who come first, in their own pages; null: no pilot
 * @param asked a person is fresh if everything was asked for recently, at the same service
 */
export async function planRows(
  warehouse: Warehouse,
  runId: string,
  asked: Asked,
  pilot: number | null = null,
): Promise<PlannedRows> {
  return warehouse.database.transaction().execute(async (transaction) => {
    const run = await transaction
      .selectFrom('runs')
      .select(['rows_staged', 'plan_hash', 'file_sha256', 'header', 'mapping', 'options'])
      .select(terms.as('terms'))
      .where('run_id', '=', runId)
      .forUpdate()
      .executeTakeFirst();
    if (!run) throw new Error(`run ${runId} does not exist`);
    // Grouping and hashing of two million keys fits in memory.
    await sql`set local work_mem = '192MB'`.execute(transaction);
    if (run.plan_hash === null) {
      const columns = { header: run.header ?? [], mapping: run.mapping ?? {} };
      await decide(transaction, runId, { rows: run.rows_staged, asked, columns, options: run.options });
      await assignPositions(transaction, runId, pilot);
      // Without statistics PostgreSQL assumes a handful of rows: finding the first open page of 70,000 people took
      // minutes, and takes 0.1 s with them. ANALYZE reads a sample of fixed size.
      if (run.rows_staged > rowsWorthAnalyzing)
        await sql`analyze run_rows (row_number, outcome), run_people`.execute(transaction);
    }
    const { digest, ...counts } = await countRows(transaction, runId, { phones: asksForPhones(asked) });
    const planHash = run.plan_hash ?? hashOf(run.file_sha256, run.terms, digest);
    await transaction
      .updateTable('runs')
      .set({ plan_hash: planHash })
      .where('run_id', '=', runId)
      .where('plan_hash', 'is', null)
      .execute();
    return { planHash, rows: run.rows_staged, ...counts };
  });
}

interface PlannedExport {
  readonly rows: number;
  readonly asked: Asked;
  readonly columns: ReadColumns;
  readonly options: RunOptions;
}

async function decide(
  transaction: Transaction<Tables>,
  runId: string,
  { rows, asked, columns, options }: PlannedExport,
): Promise<void> {
  await sql`set local synchronous_commit = on`.execute(transaction);
  await copyRows(transaction, runId, asked, rows);
  if (await applyRowChoice(transaction, runId, columns, options))
    await addWarning(transaction, runId, `no row fits --only ${formatRowFilters(options.only).join('; ')}`);
  await findSamePeople(transaction);
  await findRepeatedRecords(transaction);
  await sql`
    create temporary table plan_outcomes (row_number integer primary key, outcome text not null, reason text not null)
    on commit drop
  `.execute(transaction);
  await dropOptedOut(transaction);
  const isListed = await hasSuppressions(transaction);
  if (isListed) await dropSuppressed(transaction, runId);
  await dropDuplicates(transaction);
  await sql`
    insert into plan_outcomes select row_number, 'cancelled', 'left out by --only' from plan_choice where is_excluded
    on conflict do nothing
  `.execute(transaction);
  await findKnown(transaction, asked);
  await dropKnown(transaction, runId, asked);
  await sql`
    create temporary table plan_asked on commit drop as
    select row_number, case when k.row_number is null then '{}' else array(
        select unnest(k.field_groups) intersect select unnest(${lateFieldGroups}::text[]) order by 1) end as left_out,
      k.found_before,
      ${options.orderBy === null ? sql`row_number` : placeBy(options.orderBy)} as place
    from plan_rows
    left join plan_known k using (row_number)
    left join plan_choice o using (row_number)
    where row_number not in (select row_number from plan_outcomes)
  `.execute(transaction);
  await writeOutcomes(transaction, runId, isListed);
}

/** Fills `plan_rows` and `plan_keys` with the rows without an outcome, and the keys of their people. */
async function copyRows(
  transaction: Transaction<Tables>,
  runId: string,
  asked: Asked,
  rows: number,
): Promise<void> {
  // The plan reads this copy, which has only the rows of this run and its own statistics. Beside 800,000
  // rows of other runs, planning 100,000 rows from `run_rows` took 8 s; from the copy it takes 3 s.
  await sql`
    create temporary table plan_rows on commit drop as
    select row_number, contact_id, opted_out, opted_out_of_calls, keys from run_rows
    where run_id = ${runId} and outcome is null
  `.execute(transaction);
  await sql`
    create temporary table plan_keys on commit drop as
    select identity_key, row_number from plan_rows, unnest(keys) as identity_key
  `.execute(transaction);
  await addKnownAddresses(transaction, { runId, service: asked.service }, sql`plan_keys`);
  await addHashesOfOtherRows(transaction, sql`plan_keys`);
  if (rows > rowsWorthAnalyzing) await sql`analyze plan_rows, plan_keys`.execute(transaction);
}

/** Drops people who opted out in a row of the export, and fills `plan_opted_out_of_calls`. */
async function dropOptedOut(transaction: Transaction<Tables>): Promise<void> {
  await sql`
    insert into plan_outcomes
    select coalesce(same.row_number, opted.row_number), 'suppressed',
      min(case when same.row_number is null or same.row_number = opted.row_number
        then 'the export marks this contact as opted out'
          else 'the same person is opted out in row ' || opted.row_number end)
    from plan_rows opted
    left join plan_people own on own.row_number = opted.row_number
    left join plan_people same on same.first_row = own.first_row
    where opted.opted_out
    group by 1
  `.execute(transaction);
  // An opt-out of calls in one row holds for the person.
  await sql`
    create temporary table plan_opted_out_of_calls on commit drop as
    select distinct coalesce(same.row_number, opted.row_number) as row_number
    from plan_rows opted
    left join plan_people own on own.row_number = opted.row_number
    left join plan_people same on same.first_row = own.first_row
    where opted.opted_out_of_calls
  `.execute(transaction);
}

async function dropDuplicates(transaction: Transaction<Tables>): Promise<void> {
  // A contact of the CRM is one row of the warehouse, even if rows of the file state different people for it.
  await sql`
    insert into plan_outcomes
    select row_number, 'duplicate', ${repeatedRecordReason} || record_row from plan_repeated
    on conflict do nothing
  `.execute(transaction);
  await sql`
    insert into plan_outcomes
    select row_number, 'duplicate', ${samePersonReason} || first_row from plan_people
    where row_number <> first_row
    on conflict do nothing
  `.execute(transaction);
}

/** Drops people of whom everything was asked for recently, and people whom another run has claimed. */
async function dropKnown(transaction: Transaction<Tables>, runId: string, asked: Asked): Promise<void> {
  await sql`
    insert into plan_outcomes
    select row_number, 'fresh',
      'asked on ' || to_char(asked_at at time zone 'UTC', 'YYYY-MM-DD') || ' by run ' || run_id
    from plan_known
    where cardinality(field_groups) = ${asked.fieldGroups.length}
    on conflict do nothing
  `.execute(transaction);
  await sql`
    insert into plan_outcomes
    select coalesce(p.first_row, k.row_number), 'in_flight', min(${reasonOfClaim})
    from plan_keys k
    join claims c on c.identity_key = k.identity_key and c.service = ${asked.service} and c.run_id <> ${runId}
    left join run_rows claimed on claimed.run_id = c.run_id and claimed.row_number = c.row_number
    left join plan_people p on p.row_number = k.row_number
    group by 1
    on conflict do nothing
  `.execute(transaction);
}

/** @param isListed `plan_listed` has rows of people on the suppression list, whose cells are cleared */
async function writeOutcomes(
  transaction: Transaction<Tables>,
  runId: string,
  isListed: boolean,
): Promise<void> {
  await sql`
    update run_rows r set outcome = o.outcome, reason = o.reason
    from plan_outcomes o where r.run_id = ${runId} and r.row_number = o.row_number
  `.execute(transaction);
  await sql`
    update run_rows r set opted_out_of_calls = true
    from plan_opted_out_of_calls o
    where r.run_id = ${runId} and r.row_number = o.row_number and not r.opted_out_of_calls
  `.execute(transaction);
  if (isListed)
    await sql`
      update run_rows r set ${clearSuppressedRow} from plan_listed l
      where r.run_id = ${runId} and r.row_number = l.row_number
    `.execute(transaction);
}

/** Numbers before texts before empty cells; equal cells in the order of the file. */
function placeBy({ descending }: RowOrder): RawBuilder<unknown> {
  const direction = descending ? sql`desc` : sql`asc`;
  return sql`row_number() over (
    order by o.number ${direction} nulls last, o.text collate "C" ${direction} nulls last, row_number)`;
}

/** Fills `plan_listed` with the rows of people on the suppression list; one listed row lists the person. */
async function dropSuppressed(transaction: Transaction<Tables>, runId: string): Promise<void> {
  const keys = sql`
    select row_number, identity_key from plan_keys union all
    select row_number, 'domain:' || domain from run_rows
    where run_id = ${runId} and outcome is null and domain is not null
    union all
    select r.row_number, ${recordKey} from run_rows r
    join runs on runs.run_id = r.run_id
    where r.run_id = ${runId} and r.outcome is null
  `;
  await sql`
    create temporary table plan_listed on commit drop as
    select coalesce(same.row_number, listed.row_number) as row_number,
      min(case when same.row_number is null or same.row_number = listed.row_number
        then 'on the suppression list'
          else 'the same person is on the suppression list by row ' || listed.row_number end) as reason
    from (${listedRows(keys)}) listed
    left join plan_people own on own.row_number = listed.row_number
    left join plan_people same on same.first_row = own.first_row
    group by 1
  `.execute(transaction);
  // Without the key, matching 10,000 listed rows with 100,000 rows took 70 s.
  await sql`alter table plan_listed add primary key (row_number)`.execute(transaction);
  await sql`
    insert into plan_outcomes select row_number, 'suppressed', reason from plan_listed on conflict do nothing
  `.execute(transaction);
}

/** Whether a run asks for phones, which people who opted out of calls are not asked for. */
function asksForPhones({ fieldGroups }: Asked): boolean {
  return fieldGroups.some((group) => phoneGroups.includes(group));
}

/**
 * In the order of positions, after the pilot. The people of a batch leave out the same groups of fields, because the
 * service reveals the phones of all people of a call or of none.
 */
async function assignPositions(
  transaction: Transaction<Tables>,
  runId: string,
  pilot: number | null,
): Promise<void> {
  const behindPilot = pilot === null ? 0 : await positionPilot(transaction, runId, pilot);
  await sql`
    with open as (
      select * from plan_asked
      where row_number not in (select row_number from run_people where run_id = ${runId})
    ), numbered as (
      select row_number, left_out, found_before, place, (row_number() over alike - 1) / ${peoplePerCall} as batch,
        (row_number() over alike - 1) % ${peoplePerCall} as seat
      from open
      window alike as (partition by left_out order by place)
    ), batches as (
      select left_out, batch, row_number() over (order by min(place)) - 1 as rank
      from numbered
      group by left_out, batch
    )
    insert into run_people (run_id, position, row_number, left_out, found_before)
    select ${runId}, ${behindPilot} + rank * ${peoplePerCall} + seat, row_number, left_out, found_before
    from numbered
    join batches using (left_out, batch)
  `.execute(transaction);
}

function hashOf(...parts: readonly string[]): string {
  return createHash('sha256').update(parts.join('\n')).digest('hex').slice(0, 16);
}
