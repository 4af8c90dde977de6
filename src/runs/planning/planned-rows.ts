import { sql, type Transaction } from 'kysely';
import { peoplePerCall, peoplePerPage } from '../../contract/batch-sizes.ts';
import type { PlanSummary } from '../../contract/plan-summary.ts';
import type { Tables } from '../../db/schema.ts';
import { phoneGroups } from '../../domain/late-results/delivery-kinds.ts';
import type { Asked } from './earlier-lookups.ts';

/** The figures of a plan, before prices and times. */
export interface PlannedRows extends Pick<
  PlanSummary,
  'planHash' | 'rows' | 'dropped' | 'people' | 'foundBefore' | 'peopleWithoutPhones' | 'calls' | 'pages'
> {
  /** People per groups of fields that their calls leave out. */
  readonly byLeftOut: readonly {
    readonly groups: readonly string[];
    readonly people: number;
    /** People of these whom an earlier call found. */
    readonly foundBefore: number;
    /** People of these whom earlier calls did not find. */
    readonly missedBefore: number;
  }[];
}

/** Counts the rows of a planned run, and hashes their outcomes for the hash of the plan. */
export async function countRows(
  transaction: Transaction<Tables>,
  runId: string,
  { fieldGroups }: Asked,
): Promise<Omit<PlannedRows, 'planHash' | 'rows'> & { readonly digest: string }> {
  // A sum of row hashes does not depend on the order of the rows, so it needs no sort.
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
  const asksForPhones = fieldGroups.some((group) => phoneGroups.includes(group));
  return {
    dropped: Object.fromEntries(counts.rows.map((row) => [row.outcome, row.rows])),
    people: sum(asked.rows.map(({ people }) => people)),
    foundBefore: sum(asked.rows.map(({ foundBefore }) => foundBefore)),
    peopleWithoutPhones: asksForPhones ? await countWithoutPhones(transaction, runId) : 0,
    calls: sum(asked.rows.map(({ calls }) => calls)),
    pages: Math.max(0, ...asked.rows.map(({ pages }) => pages)),
    byLeftOut: asked.rows.map(({ groups, people, foundBefore, missedBefore }) => ({
      groups,
      people,
      foundBefore,
      missedBefore,
    })),
    digest: [
      ...counts.rows.map((row) => `${row.outcome}=${row.digest}`),
      ...asked.rows.flatMap((row) =>
        row.groups.length > 0 ? [`${row.groups.join('+')}=${row.digest}`] : [],
      ),
    ].join(';'),
  };
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
