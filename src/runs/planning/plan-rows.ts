import { createHash } from 'node:crypto';
import { sql, type RawBuilder, type Transaction } from 'kysely';
import { peoplePerCall, peoplePerPage } from '../../domain/runs/batching.ts';
import type { PlanSummary } from '../../contract/plan-summary.ts';
import { lateKindNames, phoneFieldGroups } from '../../domain/late-results/delivery-kinds.ts';
import { formatRowFilters, createRowTest, cellSortKey, type RowOrder } from '../../domain/runs/row-choice.ts';
import { type Warehouse, minRowsToAnalyze } from '../../db/database.ts';
import { addHashesOfOtherRows, addKnownEmails } from '../../keys/key-lookups.ts';
import {
  planRowsWithoutCall,
  writePlannedOutcomes,
  type LookupRequest,
  findRepeatedRecords,
  findSamePeople,
} from './drop-rows.ts';
import { addWarning } from '../runs.ts';
import { placePilotFirst } from '../quality-gates.ts';
import { columnReader, type RecordedColumns, type RowChoice } from '../../ingest/columns/chosen-column.ts';
import type { RunOptions } from '../../domain/runs/run-options.ts';
import type { Tables } from '../../db/schema.ts';
import { identityOfColumns, type IdentityColumns } from '../../domain/identity/identity.ts';
import type { ContactDecision } from '../../domain/identity/verdicts.ts';
import { identityCells } from '../../db/expressions.ts';
import {
  confirmedKeys,
  contactDecisionsJson,
  verdictsThatHold,
} from '../../people/decisions/contact-decisions.ts';
import { importers } from '../../domain/crm/crm.ts';
import { formatCount } from '../../domain/text/format.ts';
import { fieldsOfHeader } from '../../ingest/columns/fields.ts';

/**
 * Options that do not change the hash of a plan, so that `enrich backfill` can execute the plan that `enrich plan` has
 * shown. Options of pilot and quality gates change the hash, because the operator's approval depends on them.
 */
const optionsOutsideHash: readonly (keyof RunOptions)[] = ['serviceOf', 'schedule', 'priority'];

/** The counts of a plan, before prices and times are added. */
export interface PlannedRows extends Pick<
  PlanSummary,
  'plan_hash' | 'rows' | 'dropped' | 'people' | 'found_before' | 'people_without_phones' | 'calls' | 'pages'
> {
  /** Number of people by the fields that the calls for them leave out. */
  readonly byLeftOut: readonly {
    readonly groups: readonly string[];
    readonly people: number;
    /** Number of these people that an earlier call found. */
    readonly foundBefore: number;
    /** Number of these people that earlier calls did not find. */
    readonly missedBefore: number;
  }[];
}

/**
 * Gives each staged row an outcome, or a position among the people to call for. Rows belong to one person if they share
 * a key, directly or through other rows. A planned run is not changed.
 *
 * @param asked fields that must be fresh at the service for a person to need no call
 * @param pilot number of people in the first pages; null: no pilot
 */
export async function planRows(
  warehouse: Warehouse,
  runId: string,
  asked: LookupRequest,
  pilot: number | null = null,
): Promise<PlannedRows> {
  return warehouse.database.transaction().execute(async (transaction) => {
    const { rows } = await sql<
      PlannedExport & { rows_staged: number; plan_hash: string | null; terms: string }
    >`
      select rows_staged, plan_hash, source, coalesce(header, '{}') as header, coalesce(mapping, '{}') as mapping,
        options, file_sha256 || E'\n' || (options - ${optionsOutsideHash}::text[])::text || coalesce(mapping::text, '')
          as terms
      from runs
      where run_id = ${runId}
      for update
    `.execute(transaction);
    const [run] = rows;
    if (!run) throw new Error(`run ${runId} does not exist`);
    // With this setting, grouping and hashing two million keys fits in memory.
    await sql`set local work_mem = '192MB'`.execute(transaction);
    if (run.plan_hash === null) {
      await decide(transaction, runId, asked, run);
      await assignPositions(transaction, runId, pilot);
      // Without statistics PostgreSQL expects a handful of rows, and finding the first open page of 70,000 people took
      // minutes instead of 0.1 s. ANALYZE reads a sample of fixed size.
      if (run.rows_staged > minRowsToAnalyze)
        await sql`analyze run_rows (row_number, outcome), run_people`.execute(transaction);
    }
    const { digest, ...counts } = await countRows(transaction, runId, asked);
    const planHash =
      run.plan_hash ?? createHash('sha256').update(`${run.terms}\n${digest}`).digest('hex').slice(0, 16);
    await sql`
      update runs set plan_hash = ${planHash} where run_id = ${runId} and plan_hash is null
    `.execute(transaction);
    return { plan_hash: planHash, rows: run.rows_staged, ...counts };
  });
}

/** Counts the rows of a planned run, and hashes their outcomes for the hash of the plan. */
async function countRows(
  transaction: Transaction<Tables>,
  runId: string,
  { fieldGroups }: LookupRequest,
): Promise<Omit<PlannedRows, 'plan_hash' | 'rows'> & { readonly digest: string }> {
  // A sum of row hashes does not depend on the order of the rows, so the rows need no sorting.
  const counts = await sql<{ outcome: string; rows: number; digest: string }>`
    select outcome, count(*)::int as rows, sum(hashtextextended(row_number || outcome, 0)::numeric)::text as digest
    from run_rows where run_id = ${runId} and outcome is not null
      and row_number not in (select row_number from run_people where run_id = ${runId})
    group by outcome order by outcome
  `.execute(transaction);
  const asked = await sql<
    PlannedRows['byLeftOut'][number] & { calls: number; pages: number; digest: string }
  >`
    select left_out as groups, count(*)::int as people, count(*) filter (where found_before)::int as "foundBefore",
      count(*) filter (where not found_before)::int as "missedBefore",
      count(distinct position / ${peoplePerCall})::int as calls,
      max(position) / ${peoplePerPage} + 1 as pages,
      sum(hashtextextended(row_number::text, 0)::numeric) filter (where left_out <> '{}')::text as digest
    from run_people
    where run_id = ${runId}
    group by left_out
    order by left_out
  `.execute(transaction);
  const asksForPhones = fieldGroups.some((group) => phoneFieldGroups.includes(group));
  const withoutPhones = await sql<{ people: number }>`
    select count(*)::int as people
    from run_people p
    join run_rows r using (run_id, row_number)
    where p.run_id = ${runId} and r.opted_out_of_calls and ${asksForPhones}
  `.execute(transaction);
  return {
    dropped: Object.fromEntries(counts.rows.map((row) => [row.outcome, row.rows])),
    people: sum(asked.rows.map(({ people }) => people)),
    found_before: sum(asked.rows.map(({ foundBefore }) => foundBefore)),
    people_without_phones: withoutPhones.rows[0]!.people,
    calls: sum(asked.rows.map(({ calls }) => calls)),
    pages: Math.max(0, ...asked.rows.map(({ pages }) => pages)),
    byLeftOut: asked.rows,
    digest: [
      ...counts.rows.map((row) => `${row.outcome}=${row.digest}`),
      ...asked.rows.flatMap((row) =>
        row.groups.length > 0 ? [`${row.groups.join('+')}=${row.digest}`] : [],
      ),
    ].join(';'),
  };
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, each) => total + each, 0);
}

interface PlannedExport extends RecordedColumns {
  readonly rows_staged: number;
  readonly source: string | null;
  readonly options: RunOptions;
}

/** Fills `plan_asked` with the people to call for, and writes the outcomes of all other rows. */
async function decide(
  transaction: Transaction<Tables>,
  runId: string,
  asked: LookupRequest,
  run: PlannedExport,
): Promise<void> {
  const { options } = run;
  // Also if the server's default is `off`: Temporal keeps the result of the planning, so a crash must not lose the
  // plan.
  await sql`set local synchronous_commit = on`.execute(transaction);
  await copyRows(transaction, runId, asked, run.rows_staged);
  await warnOfMissingIds(transaction, runId, run);
  if (await applyRowChoice(transaction, runId, run, options))
    await addWarning(
      transaction,
      runId,
      `no row fits --only ${formatRowFilters(options.only).join(' --only ')}`,
    );
  await findSamePeople(transaction);
  await findRepeatedRecords(transaction, runId);
  await planRowsWithoutCall(transaction, runId, asked);
  await sql`
    create temporary table plan_asked on commit drop as
    select row_number, case when k.row_number is null then '{}' else array(
        select unnest(k.field_groups) intersect select unnest(${lateKindNames}::text[]) order by 1) end as left_out,
      k.found_before,
      ${options.orderBy === null ? sql`row_number` : placeBy(options.orderBy)} as place
    from plan_rows
    left join plan_known k using (row_number)
    left join plan_choice o using (row_number)
    where row_number not in (select row_number from plan_outcomes)
  `.execute(transaction);
  await writePlannedOutcomes(transaction, runId);
}

/** Fills `plan_rows` and `plan_keys` with the rows without an outcome, and the keys of the people in these rows. */
async function copyRows(
  transaction: Transaction<Tables>,
  runId: string,
  asked: LookupRequest,
  rows: number,
): Promise<void> {
  // The plan reads a copy of the run's rows with its own statistics. Beside 800,000 rows of other runs, planning
  // 100,000 rows took 8 s from `run_rows` and 3 s from the copy.
  await sql`
    create temporary table plan_rows on commit drop as
    select row_number, contact_id, opted_out, opted_out_of_calls, keys from run_rows
    where run_id = ${runId} and outcome is null
  `.execute(transaction);
  await sql`
    create temporary table plan_keys on commit drop as
    select identity_key, row_number from plan_rows, unnest(keys) as identity_key
  `.execute(transaction);
  await addKnownEmails(transaction, asked.service, sql`plan_keys`);
  await addHashesOfOtherRows(transaction, sql`plan_keys`);
  await addConfirmedPeople(transaction, { runId, service: asked.service });
  if (rows > minRowsToAnalyze) await sql`analyze plan_rows, plan_keys`.execute(transaction);
}

/** SQL sort order of cells: numbers before texts before empty cells. Equal cells keep the order of the file. */
function placeBy({ descending }: RowOrder): RawBuilder<unknown> {
  const direction = descending ? sql`desc` : sql`asc`;
  return sql`row_number() over (
    order by o.number ${direction} nulls last, o.text collate "C" ${direction} nulls last, row_number)`;
}

/**
 * Assigns positions to people, after those of the pilot. All people of a batch leave out the same groups of fields,
 * because a call reveals phones for all of its people or for none.
 */
async function assignPositions(
  transaction: Transaction<Tables>,
  runId: string,
  pilot: number | null,
): Promise<void> {
  const behindPilot = pilot === null ? 0 : await placePilotFirst(transaction, runId, pilot);
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

type DecidedRow = IdentityColumns & {
  readonly row_number: number;
  readonly decisions: readonly ContactDecision[] | null;
};

/**
 * Adds to `plan_keys` the person that the operator has confirmed for a contact (`enrich review`). A row is then fresh
 * if this person is fresh, and rows with the same person are duplicates.
 */
async function addConfirmedPeople(
  transaction: Transaction<Tables>,
  { runId, service }: { readonly runId: string; readonly service: string },
): Promise<void> {
  const { rows } = await sql<DecidedRow>`
    select r.row_number, ${identityCells('r')},
      ${contactDecisionsJson(sql`${service}`, sql`d.source`, sql`d.contact_id`)} as decisions
    from (
      select distinct source, contact_id from contact_decisions
      where service = ${service}
        and verdict = 'confirmed'
        and source = (select source from runs where run_id = ${runId})
    ) d
    join plan_rows p on p.contact_id = d.contact_id
    join run_rows r on r.run_id = ${runId} and r.row_number = p.row_number
  `.execute(transaction);
  const added = rows.flatMap(({ row_number: rowNumber, decisions, ...cells }) =>
    confirmedKeys(verdictsThatHold(decisions, { identity: identityOfColumns(cells) })).map((key) => ({
      rowNumber,
      key,
    })),
  );
  if (added.length === 0) return;
  await sql`
    insert into plan_keys (identity_key, row_number)
    select * from unnest(${added.map(({ key }) => key)}::text[], ${added.map(({ rowNumber }) => rowNumber)}::int[])
    except
    select identity_key, row_number from plan_keys
  `.execute(transaction);
}

/** Rows whose cells are in memory at a time. */
const rowsPerFetch = 10_000;

/** Fills `plan_choice` with what `--only` leaves out and the keys of `--order-by`. @returns true if no row is left */
async function applyRowChoice(
  transaction: Transaction<Tables>,
  runId: string,
  columns: RecordedColumns,
  { only, orderBy }: RowChoice,
): Promise<boolean> {
  await sql`
    create temporary table plan_choice
      (row_number integer primary key, is_excluded boolean not null, number double precision, text text)
    on commit drop
  `.execute(transaction);
  if (only.length === 0 && orderBy === null) return false;
  const readers = new Map(only.map(({ column }) => [column, columnReader(columns, column)]));
  const fits = createRowTest(only);
  const ordered = orderBy && columnReader(columns, orderBy.column);
  let [read, excluded] = [0, 0];
  for (let last = 0, isOver = false; !isOver;) {
    const { rows } = await sql<{ row_number: number; raw: string }>`
      select row_number, raw from run_rows
      where run_id = ${runId} and row_number > ${last} and outcome is null
      order by row_number
      limit ${rowsPerFetch}
    `.execute(transaction);
    const choices = rows.map(({ row_number: row, raw }) => {
      const cells = JSON.parse(raw) as string[];
      const isExcluded = !fits((column) => readers.get(column)!(cells));
      const key = ordered === null ? undefined : cellSortKey(ordered(cells));
      return { row, isExcluded, number: key?.number ?? null, text: key?.text?.replaceAll('\0', '') ?? null };
    });
    await sql`
      insert into plan_choice
      select * from unnest(${choices.map(({ row }) => row)}::integer[],
        ${choices.map(({ isExcluded }) => isExcluded)}::boolean[],
        ${choices.map(({ number }) => number)}::double precision[], ${choices.map(({ text }) => text)}::text[])
    `.execute(transaction);
    read += choices.length;
    excluded += choices.filter(({ isExcluded }) => isExcluded).length;
    last = rows.at(-1)?.row_number ?? last;
    isOver = rows.length < rowsPerFetch;
  }
  await sql`analyze plan_choice`.execute(transaction);
  return read > 0 && excluded === read;
}

/**
 * Warns about contacts that importer files must leave out, because their row has no record id of the CRM. In a file of
 * an unknown CRM, only rows with an empty id column count.
 */
async function warnOfMissingIds(
  transaction: Transaction<Tables>,
  runId: string,
  { source, header, mapping }: RecordedColumns & { readonly source: string | null },
): Promise<void> {
  const importer = Object.values(importers).find((each) => each.source === source);
  if (importer === undefined && !fieldsOfHeader(header, mapping).includes('contact_id')) return;
  const { rows: found } = await sql<{ rows: number }>`
    select count(*)::int as rows from plan_rows
    where ${
      importer === undefined
        ? sql`contact_id ~ '^(key|row):'`
        : sql`contact_id !~ ${importer.acceptedId.source}`
    }
  `.execute(transaction);
  const rows = found[0]?.rows ?? 0;
  if (rows === 0) return;
  const ofCrm = importer === undefined ? '' : ` of a ${importer.title} contact`;
  await addWarning(
    transaction,
    runId,
    `${formatCount(rows, 'row')} without a record id${ofCrm}: files for the CRM's importer leave ` +
      `${rows === 1 ? 'this contact' : 'these contacts'} out, and a later export with the id makes a second contact`,
  );
}
