import { sql, type RawBuilder, type Transaction, type Kysely } from 'kysely';
import type { Tables } from '../../db/schema.ts';
import { phoneFieldGroups } from '../../domain/late-results/delivery-kinds.ts';
import { samePersonPrefix, type Outcome } from '../../domain/runs/outcome.ts';
import { clearSuppressedRow } from '../../suppression/drop-suppressed.ts';
import { namedRecordKey, recordKey } from '../../suppression/compared-keys.ts';
import { hasSuppressions, suppressedRows } from '../../suppression/suppression-list.ts';
import { claimsOfOtherRuns } from '../claims.ts';
import { freshSecondsIfFound, type Freshness } from '../../domain/runs/freshness.ts';
import { nameCells } from '../../db/expressions.ts';
import { compareNameCells, type NameCells } from '../../domain/identity/names/name-agreement.ts';
import { formatCount } from '../../domain/text/format.ts';
import { isIdentifyingKey } from '../../keys/key-lookups.ts';
import { addWarning } from '../runs.ts';

/**
 * Fills `plan_outcomes` with the rows that need no call, by the first of: suppressed (export, then list), duplicate,
 * cancelled (`--only`), fresh, in_flight. Also fills `plan_known` and `plan_opted_out_of_calls`.
 */
export async function planRowsWithoutCall(
  transaction: Transaction<Tables>,
  runId: string,
  asked: LookupRequest,
): Promise<void> {
  await sql`
    create temporary table plan_outcomes (
      row_number integer primary key,
      outcome text not null,
      reason text not null,
      record_row integer,
      is_contested boolean not null default false,
      claimed_by_run_id text,
      claimed_by_row_number integer
    ) on commit drop
  `.execute(transaction);
  await dropOptedOut(transaction);
  await dropListed(transaction, runId);
  // A contact of the CRM is one row of the warehouse, even if its rows in the file name different people.
  await drop(
    transaction,
    'duplicate',
    sql`
      select row_number, record_row, is_contested,
        'the same record as row ' || record_row
          || case when is_contested then '; rows with this id name different people' else '' end as reason
      from plan_repeated`,
    ['record_row', 'is_contested'],
  );
  await drop(
    transaction,
    'duplicate',
    sql`select row_number, ${samePersonPrefix} || first_row as reason from plan_people where row_number <> first_row`,
  );
  await drop(
    transaction,
    'cancelled',
    sql`select row_number, 'left out by --only' as reason from plan_choice where is_excluded`,
  );
  await findKnown(transaction, asked);
  await drop(
    transaction,
    'fresh',
    sql`
      select row_number,
        'asked on ' || to_char(asked_at at time zone 'UTC', 'YYYY-MM-DD') || ' by run ' || run_id as reason
      from plan_known
      where cardinality(field_groups) = ${asked.fieldGroups.length}`,
  );
  const keysOfPeople = sql`(
    select coalesce(p.first_row, k.row_number) as row_number, k.identity_key
    from plan_keys k
    left join plan_people p on p.row_number = k.row_number
  )`;
  await drop(transaction, 'in_flight', claimsOfOtherRuns({ runId, service: asked.service }, keysOfPeople), [
    'claimed_by_run_id',
    'claimed_by_row_number',
  ]);
}

/**
 * Gives an outcome to the rows of a query, unless they have one, with the columns `facts` that the query returns. The
 * first outcome of a row stays, so the order of the calls of this function matters.
 */
async function drop(
  transaction: Transaction<Tables>,
  outcome: Outcome,
  rows: RawBuilder<unknown>,
  facts: readonly string[] = [],
): Promise<void> {
  const columns = sql.join(['row_number', 'reason', ...facts].map((name) => sql.ref(name)));
  await sql`
    insert into plan_outcomes (outcome, ${columns}) select ${outcome}, ${columns} from (${rows}) dropped
    on conflict do nothing
  `.execute(transaction);
}

/** SQL query of these rows and all other rows with the same CRM record or person, each with the reason. */
function withSamePeople(
  rows: RawBuilder<unknown>,
  reason: string,
  reasonOfOthers: string,
): RawBuilder<unknown> {
  return sql`
    with named as materialized (${rows}), records as (
      select row_number, record_row from plan_repeated where not is_contested
      union
      select record_row, record_row from plan_repeated where not is_contested
    ), affected as (
      select row_number from named
      union
      select row_number from records where record_row in (select record_row from named join records using (row_number))
    ), with_people as (
      select row_number from affected
      union
      select row_number from plan_people
      where first_row in (select first_row from affected join plan_people using (row_number))
    )
    select row_number,
      case when named.row_number is null then ${reasonOfOthers}::text else ${reason}::text end as reason
    from with_people
    left join named using (row_number)`;
}

/** Drops people who opted out in a row of the export, and fills `plan_opted_out_of_calls`. */
async function dropOptedOut(transaction: Transaction<Tables>): Promise<void> {
  const optedOut = withSamePeople(
    sql`select row_number from plan_rows where opted_out`,
    'the export marks this contact as opted out',
    'the same person is opted out in another row',
  );
  await drop(transaction, 'suppressed', optedOut);
  // An opt-out of calls in one row applies to all rows of the person.
  await sql`
    create temporary table plan_opted_out_of_calls on commit drop as
    select row_number
    from (${withSamePeople(sql`select row_number from plan_rows where opted_out_of_calls`, '', '')}) opted
  `.execute(transaction);
}

/** Fills `plan_listed` with the rows of suppressed people. One suppressed row suppresses all rows of this person. */
async function dropListed(transaction: Transaction<Tables>, runId: string): Promise<void> {
  await sql`
    create temporary table plan_listed (row_number integer primary key, reason text not null) on commit drop
  `.execute(transaction);
  if (!(await hasSuppressions(transaction))) return;
  const keys = sql`
    select row_number, identity_key from plan_keys union all
    select row_number, 'domain:' || domain from run_rows
    where run_id = ${runId} and outcome is null and domain is not null
    union all
    select r.row_number, unnest(array[${recordKey}, ${namedRecordKey}]) from run_rows r
    join runs on runs.run_id = r.run_id
    where r.run_id = ${runId} and r.outcome is null
  `;
  const listed = withSamePeople(
    suppressedRows(keys),
    'on the suppression list',
    'the same person is on the suppression list by another row',
  );
  await sql`insert into plan_listed ${listed}`.execute(transaction);
  await drop(transaction, 'suppressed', sql`select * from plan_listed`);
}

/**
 * Fills `plan_known` for people with earlier lookups, in any row of theirs, or an opt-out of calls: the `field_groups`
 * that the call leaves out, the latest fresh lookup, and `found_before` (null without an earlier call).
 */
async function findKnown(transaction: Transaction<Tables>, asked: LookupRequest): Promise<void> {
  const phones = asked.fieldGroups.filter((group) => phoneFieldGroups.includes(group));
  await sql`
    create temporary table plan_known on commit drop as
    select row_number,
      coalesce(array_agg(distinct field_group) filter (where is_left_out), '{}') as field_groups,
      max(asked_at) filter (where is_left_out) as asked_at,
      (array_agg(run_id order by asked_at desc nulls last) filter (where is_left_out))[1] as run_id,
      bool_or(coalesce(found, true)) filter (where field_group = 'profile') as found_before
    from (
      select coalesce(p.first_row, m.row_number) as row_number, m.field_group, m.is_fresh as is_left_out, m.found,
        m.asked_at, a.run_id
      from ${earlierLookups(asked, sql`plan_keys`, await estimateKeysAmount(transaction, 'plan_keys'))}
      left join plan_people p on p.row_number = m.row_number
      union all
      select row_number, unnest(${phones}::text[]), true, null, null, null from plan_opted_out_of_calls
    ) known
    group by row_number
  `.execute(transaction);
}

/** Copies the plan's outcomes and opt-outs to `run_rows`, and clears the cells of suppressed people. */
export async function writePlannedOutcomes(transaction: Transaction<Tables>, runId: string): Promise<void> {
  // Staging has already written a reason if a column of the export opts the contact out.
  await sql`
    update run_rows r set outcome = o.outcome, reason = coalesce(r.reason, o.reason), record_row = o.record_row,
      is_contested = o.is_contested, claimed_by_run_id = o.claimed_by_run_id,
      claimed_by_row_number = o.claimed_by_row_number
    from plan_outcomes o where r.run_id = ${runId} and r.row_number = o.row_number
  `.execute(transaction);
  await sql`
    update run_rows r set opted_out_of_calls = true
    from plan_opted_out_of_calls o
    where r.run_id = ${runId} and r.row_number = o.row_number and not r.opted_out_of_calls
  `.execute(transaction);
  await sql`
    update run_rows r set ${clearSuppressedRow} from plan_listed l
    where r.run_id = ${runId} and r.row_number = l.row_number
  `.execute(transaction);
}

/** The fields that a run requests, the service, and how long a lookup is fresh. */
export interface LookupRequest {
  readonly freshness: Freshness;
  readonly fieldGroups: readonly string[];
  readonly service: string;
}

/** Size of a set of keys compared with the lookup history. */
type KeysAmount = 'few' | 'many';

/** Looking up one key in the index takes as long as reading this number of entries in order. */
const entriesPerLookup = 12;

/**
 * Returns whether the keys of a table are few or many; without statistics, few. PostgreSQL's own choice is worse: for
 * 300,000 keys and 30 million entries it read all entries, which took 18 s instead of 2 s.
 */
export async function estimateKeysAmount(database: Kysely<Tables>, table: string): Promise<KeysAmount> {
  const { rows } = await sql<{ amount: KeysAmount }>`
    select case when k.reltuples * ${entriesPerLookup} > h.reltuples then 'many' else 'few' end as amount
    from pg_class k, pg_class h
    where k.oid = ${table}::regclass and h.oid = 'lookup_history'::regclass
  `.execute(database);
  return rows[0]!.amount;
}

/**
 * SQL of identity keys with their lookups `m` and their runs `a`: for each requested group of fields, whether the
 * person was `found` and the lookup `is_fresh`. A person is fresh if every group has a fresh lookup.
 *
 * @param keys a relation with `identity_key`; `m` has all of its columns
 * @param amount `few`: looks up each key in the index, because PostgreSQL would read the whole history for 300 keys
 */
export function earlierLookups(
  { freshness, fieldGroups, service }: LookupRequest,
  keys: RawBuilder<unknown>,
  amount: KeysAmount,
): RawBuilder<unknown> {
  const found = fieldGroups.map((group) => freshSecondsIfFound(freshness, group));
  // `offset` keeps PostgreSQL from turning the subquery into a join, in which it read all runs for each key.
  const apart = amount === 'few' ? sql`offset 0` : sql``;
  return sql`
    (
      select k.*, h.field_group, h.found, h.asked_at, h.lookup_run,
        h.asked_at > now() - make_interval(secs =>
          case when h.found then clock.found_seconds else ${freshness.notFoundSeconds}::float8 end) as is_fresh
      from ${keys} k
      join unnest(${fieldGroups}::text[], ${found}::float8[]) as clock (field_group, found_seconds) on true
      join lateral (
        select * from lookup_history l
        where l.key_hash = key_hash(k.identity_key, ${service}) and l.field_group = clock.field_group
        ${apart}
      ) h on true
      ${apart}
    ) m
    join lookup_runs a on a.lookup_run = m.lookup_run`;
}

/**
 * Fills `plan_people` with the rows that share a key, and the first row of their person. Each round spreads the
 * smallest label to neighbours and follows it, so the rounds grow with the logarithm of the longest chain of rows.
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
 * Fills `plan_repeated` with the rows that repeat a record id and need no call. One row represents each record, chosen
 * by `--only`, then by identifying a person alone, then by its place. A record with different people has no such row.
 */
export async function findRepeatedRecords(transaction: Transaction<Tables>, runId: string): Promise<void> {
  const isShared = sql`not exists (select from unnest(keys) as k where ${isIdentifyingKey(sql`k`)})`;
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

/** A row of `plan_repeated`, with the names in this row and in the row that represents the record. */
interface RepeatedRow {
  readonly row: number;
  readonly record: number;
  readonly names: NameCells;
  readonly recordNames: NameCells;
}

/** Number of rows that are compared at once. A file can have the same id in all of its rows. */
const rowsPerBatch = 100_000;

/** Marks records of `plan_repeated` as contested if their rows have different names and no key in common. */
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
      if (['differ', 'other_first_name'].includes(compareNameCells(names, recordNames)))
        contested.push({ row, record });
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
    `${formatCount(records.length, 'record id')} ${records.length === 1 ? 'belongs' : 'belong'} to different people, ` +
      `such as in rows ${first.record} and ${first.row}: these rows are not asked for`,
  );
}
