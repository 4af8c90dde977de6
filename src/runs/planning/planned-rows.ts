import { sql, type Transaction } from 'kysely';
import { peoplePerCall, peoplePerPage } from '../../contract/batch-sizes.ts';
import type { Tables } from '../../db/schema.ts';

/** The figures of a plan, before prices and times. */
export interface PlannedRows {
  readonly planHash: string;
  readonly rows: number;
  readonly dropped: Readonly<Record<string, number>>;
  readonly people: number;
  /** People whom an earlier call found. */
  readonly foundBefore: number;
  /** People who opted out of calls, if the run asks for phones. */
  readonly peopleWithoutPhones: number;
  readonly calls: number;
  readonly pages: number;
  /** People per groups of fields that their calls leave out. */
  readonly byLeftOut: readonly {
    readonly groups: readonly string[];
    readonly people: number;
    /** Those of them whom an earlier call found. */
    readonly foundBefore: number;
    /** Those of them whom earlier calls did not find. */
    readonly missedBefore: number;
  }[];
}

/** Counts the rows of a planned run, and hashes their outcomes for the hash of the plan. */
export async function countRows(
  transaction: Transaction<Tables>,
  runId: string,
  { service, phones }: { readonly service: string; readonly phones: boolean },
): Promise<Omit<PlannedRows, 'planHash' | 'rows'> & { readonly digest: string }> {
  // A sum of row hashes does not depend on the order of the rows, so it needs no sort.
  const counts = await sql<{ outcome: string; rows: number; digest: string }>`
    select outcome, count(*)::int as rows, sum(hashtextextended(row_number || outcome, 0)::numeric)::text as digest
    from run_rows where run_id = ${runId} and outcome is not null
      and row_number not in (select row_number from run_people where run_id = ${runId})
    group by outcome order by outcome
  `.execute(transaction);
  const asked = await sql<{ groups: string[]; people: number; calls: number; pages: number; digest: string }>`
    select left_out as groups, count(*)::int as people, count(distinct position / ${peoplePerCall})::int as calls,
      max(position) / ${peoplePerPage} + 1 as pages,
      sum(hashtextextended(row_number::text, 0)::numeric) filter (where left_out <> '{}')::text as digest
    from run_people
    where run_id = ${runId}
    group by left_out
    order by left_out
  `.execute(transaction);
  const before = await countAskedBefore(transaction, runId, service);
  const apart = phones ? await countWithoutPhones(transaction, runId) : 0;
  return {
    dropped: Object.fromEntries(counts.rows.map((row) => [row.outcome, row.rows])),
    people: sum(asked.rows.map(({ people }) => people)),
    foundBefore: sum([...before.values()].map(({ foundBefore }) => foundBefore)),
    peopleWithoutPhones: apart,
    calls: sum(asked.rows.map(({ calls }) => calls)),
    pages: Math.max(0, ...asked.rows.map(({ pages }) => pages)),
    byLeftOut: asked.rows.map(({ groups, people }) => {
      const { foundBefore = 0, missedBefore = 0 } = before.get(groups.join('+')) ?? {};
      return { groups, people, foundBefore, missedBefore };
    }),
    digest: [
      ...counts.rows.map((row) => `${row.outcome}=${row.digest}`),
      ...asked.rows.flatMap((row) =>
        row.groups.length > 0 ? [`${row.groups.join('+')}=${row.digest}`] : [],
      ),
    ].join(';'),
  };
}

interface AskedBefore {
  readonly foundBefore: number;
  readonly missedBefore: number;
}

/** Counts the people of a plan whom an earlier call asked for, per groups of fields that their calls leave out. */
async function countAskedBefore(
  transaction: Transaction<Tables>,
  runId: string,
  service: string,
): Promise<ReadonlyMap<string, AskedBefore>> {
  const { rows } = await sql<AskedBefore & { groups: string }>`
    select groups, count(*) filter (where found)::int as "foundBefore",
      count(*) filter (where not found)::int as "missedBefore"
    from (
      select array_to_string(p.left_out, '+') as groups, bool_or(m.found) as found
      from run_people p
      join run_rows r using (run_id, row_number)
      cross join unnest(r.keys) as identity_key
      join lookup_history m on m.key_hash = key_hash(identity_key) and m.field_group = 'profile'
      join lookup_runs a on a.lookup_run = m.lookup_run and a.service = ${service}
      where p.run_id = ${runId}
      group by p.left_out, p.row_number
    ) asked_before
    group by groups
  `.execute(transaction);
  return new Map(rows.map(({ groups, ...people }) => [groups, people]));
}

async function countWithoutPhones(transaction: Transaction<Tables>, runId: string): Promise<number> {
  const { rows } = await sql<{ people: number }>`
    select count(*)::int as people
    from run_people p
    join run_rows r using (run_id, row_number)
    where p.run_id = ${runId} and r.opted_out_of_calls
  `.execute(transaction);
  return rows[0]!.people;
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, each) => total + each, 0);
}
