import { sql, type RawBuilder, type Transaction, type Kysely } from 'kysely';
import type { Tables } from '../../db/schema.ts';
import { phoneGroups } from '../../domain/late-results/delivery-kinds.ts';
import { samePersonReason, type Outcome } from '../../domain/runs/outcome.ts';
import { clearSuppressedRow } from '../../suppression/drop-suppressed.ts';
import { namedRecordKey, recordKey } from '../../suppression/compared-keys.ts';
import { hasSuppressions, listedRows } from '../../suppression/suppression-list.ts';
import { claimedElsewhere } from '../claims.ts';
import { foundSeconds, type Freshness } from '../../domain/runs/freshness.ts';

/**
 * Fills `plan_outcomes` with the rows of `plan_rows` that are not asked for. The first outcome of a row wins:
 * suppressed (by the export, then by the list), duplicate, cancelled (left out by `--only`), fresh, in_flight.
 *
 * Also fills `plan_known` and `plan_opted_out_of_calls`.
 */
export async function dropRows(transaction: Transaction<Tables>, runId: string, asked: Asked): Promise<void> {
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
  // A contact of the CRM is one row of the warehouse, even if rows of the file state different people for it.
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
    sql`select row_number, ${samePersonReason} || first_row as reason from plan_people where row_number <> first_row`,
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
  await drop(transaction, 'in_flight', claimedElsewhere({ runId, service: asked.service }, keysOfPeople), [
    'claimed_by_run_id',
    'claimed_by_row_number',
  ]);
}

/**
 * Gives rows an outcome, unless they have one.
 *
 * @param rows query of `row_number`, `reason` and the facts
 * @param facts further columns of `plan_outcomes`
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

/**
 * Query of rows, of the other rows of their records and of the other rows of their people, each with the reason.
 *
 * @param rows query of `row_number`
 */
function withSamePeople(
  rows: RawBuilder<unknown>,
  reason: string,
  reasonOfOthers: string,
): RawBuilder<unknown> {
  return sql`
    with named as materialized (${rows}), records as (
      select row_number, record_row from plan_repeated where not is_contested
      union all
      select distinct record_row, record_row from plan_repeated where not is_contested
    ), affected as (
      select row_number, row_number as named_row from named
      union all
      select records.row_number, least_named.named_row
      from (
        select record_row, min(row_number) as named_row from named join records using (row_number) group by 1
      ) least_named
      join records using (record_row)
    )
    select row_number,
      min(case row_number when named_row then ${reason}::text else ${reasonOfOthers}::text || named_row end) as reason
    from (
      select * from affected
      union all
      select plan_people.row_number, least_named.named_row
      from (
        select first_row, min(named_row) as named_row from affected join plan_people using (row_number) group by 1
      ) least_named
      join plan_people using (first_row)
    ) with_people
    group by 1`;
}

/** Drops people who opted out in a row of the export, and fills `plan_opted_out_of_calls`. */
async function dropOptedOut(transaction: Transaction<Tables>): Promise<void> {
  const optedOut = withSamePeople(
    sql`select row_number from plan_rows where opted_out`,
    'the export marks this contact as opted out',
    'the same person is opted out in row ',
  );
  await drop(transaction, 'suppressed', optedOut);
  // An opt-out of calls in one row holds for the person.
  await sql`
    create temporary table plan_opted_out_of_calls on commit drop as
    select row_number
    from (${withSamePeople(sql`select row_number from plan_rows where opted_out_of_calls`, '', '')}) opted
  `.execute(transaction);
}

/** Fills `plan_listed` with the rows of people on the suppression list; one listed row lists the person. */
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
    listedRows(keys),
    'on the suppression list',
    'the same person is on the suppression list by row ',
  );
  await sql`insert into plan_listed ${listed}`.execute(transaction);
  await drop(transaction, 'suppressed', sql`select * from plan_listed`);
}

/**
 * Fills `plan_known` with what earlier lookups tell about people, and with people who opted out of calls:
 *
 * - `field_groups`: fields that the call for the person leaves out: fields asked for recently, and phones if the person
 *   opted out of calls;
 * - `asked_at` and `run_id`: the latest of the recent lookups;
 * - `found_before`: whether an earlier call found the person, or was billed for another; null: no call asked.
 *
 * A lookup for one row of a person holds for the person.
 */
async function findKnown(transaction: Transaction<Tables>, asked: Asked): Promise<void> {
  const phones = asked.fieldGroups.filter((group) => phoneGroups.includes(group));
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
      from ${earlierLookups(asked, sql`plan_keys`, await amountOfKeys(transaction, 'plan_keys'))}
      left join plan_people p on p.row_number = m.row_number
      union all
      select row_number, unnest(${phones}::text[]), true, null, null, null from plan_opted_out_of_calls
    ) known
    group by row_number
  `.execute(transaction);
}

export async function writeOutcomes(transaction: Transaction<Tables>, runId: string): Promise<void> {
  // Staging has written the reason of a contact that is opted out by a column.
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

/** What a run asks for, at which service, and how long earlier lookups count as fresh. */
export interface Asked {
  readonly freshness: Freshness;
  readonly fieldGroups: readonly string[];
  readonly service: string;
}

/** Whether keys are few or many beside the history. */
type KeysAmount = 'few' | 'many';

/** Looking an entry of the history up takes as long as reading a dozen entries in their order. */
const entriesPerLookup = 12;

/**
 * Returns whether the keys of a table are few or many; without statistics about the table, few. PostgreSQL chooses
 * badly: for 300,000 keys and 30 million entries it read all entries, in 18 s instead of 2 s.
 */
export async function amountOfKeys(database: Kysely<Tables>, table: string): Promise<KeysAmount> {
  const { rows } = await sql<{ amount: KeysAmount }>`
    select case when k.reltuples * ${entriesPerLookup} > h.reltuples then 'many' else 'few' end as amount
    from pg_class k, pg_class h
    where k.oid = ${table}::regclass and h.oid = 'lookup_history'::regclass
  `.execute(database);
  return rows[0]!.amount;
}

/**
 * SQL of identity keys with their earlier lookups `m` at the service, by the runs `a`: for each requested group of
 * fields, whether the person was `found`, and whether the lookup `is_fresh`. A person is fresh if every group has a
 * fresh lookup.
 *
 * @param keys a relation with `identity_key`; `m` has all of its columns
 * @param amount `few`: looks each key up in the index. PostgreSQL would read the whole history for 300 keys. `many`:
 *   PostgreSQL chooses
 */
export function earlierLookups(
  { freshness, fieldGroups, service }: Asked,
  keys: RawBuilder<unknown>,
  amount: KeysAmount,
): RawBuilder<unknown> {
  const found = fieldGroups.map((group) => foundSeconds(freshness, group));
  // PostgreSQL turns no subquery with an offset into a join. Without the second offset it read all runs for each key.
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
