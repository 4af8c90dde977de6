import { sql, type Transaction } from 'kysely';
import { peoplePerCall, peoplePerPage } from '../../contract/batch-sizes.ts';
import type { PlanSummary } from '../../contract/plan-summary.ts';
import { withoutFieldGroups, phoneGroups } from '../../domain/late-results/delivery-kinds.ts';
import {
  askOf,
  assumedCredits,
  describeAssumption,
  experiencedCredits,
  missedCredits,
  worstCaseCredits,
  type Ask,
  type ExpectedCredits,
  type PeopleAsked,
} from '../../domain/money/credit-rules.ts';
import { formatCredits, type Credits } from '../../domain/money/decimal.ts';
import { readCallHistory, type CallHistory } from '../../ledger/call-history.ts';
import type { Warehouse } from '../../db/database.ts';
import { sourceOf, type RunRecord } from '../runs.ts';
import type { Tables } from '../../db/schema.ts';
import type { Asked } from './drop-rows.ts';

interface PlanPrice extends Pick<PlanSummary, 'credits' | 'expectation'> {
  readonly worstCase: Credits;
  /** Of earlier calls for new people, or for people found before if most people of the plan are. */
  readonly secondsPerCall: number | undefined;
}

/** Prices a plan: exactly in the worst case, and as earlier calls cost or by an assumption otherwise. */
export async function priceOf(warehouse: Warehouse, run: RunRecord, rows: PlannedRows): Promise<PlanPrice> {
  const mostPeople = rows.foundBefore * 2 > rows.people ? 'found before' : 'new';
  const history = await readExperience(warehouse, run.options, sourceOf(run), mostPeople);
  const credits = await creditsOf(warehouse, run, rows.byLeftOut);
  const worstCase = credits.worstCase * (run.options.onUnknown === 'retry' ? 2n : 1n);
  const expected = roundedWithin(worstCase, credits.expected);
  return {
    worstCase,
    secondsPerCall: history?.secondsPerCall,
    credits: {
      // The service bills no miss.
      minimum: '0',
      expected: formatCredits(expected.expected),
      worstCase: formatCredits(worstCase),
    },
    expectation: {
      low: formatCredits(expected.low),
      high: formatCredits(expected.high),
      calls: history?.calls ?? 0,
      source: history?.source ?? null,
      assumption: history ? null : describeAssumption(askOf(run.options), mostPeople),
    },
  };
}

/** Worst-case and expected credits of people, by what their calls ask for. */
async function creditsOf(
  warehouse: Warehouse,
  run: RunRecord,
  byLeftOut: PlannedRows['byLeftOut'],
): Promise<{ worstCase: Credits; expected: ExpectedCredits }> {
  let worstCase = 0n;
  let [low, expected, high] = [0n, 0n, 0n];
  for (const { groups, people, foundBefore, missedBefore } of byLeftOut) {
    const asked = withoutFieldGroups(run.options, groups);
    const ask = askOf(asked);
    worstCase += worstCaseCredits(ask) * BigInt(people);
    for (const [kind, count] of [
      ['new', people - foundBefore - missedBefore],
      ['found before', foundBefore],
      ['missed before', missedBefore],
    ] as const) {
      if (count === 0) continue;
      const each =
        kind === 'missed before'
          ? missedCredits(await perFoundPerson(warehouse, asked, sourceOf(run)), count)
          : expectedOf(ask, await readExperience(warehouse, asked, sourceOf(run), kind), kind, count);
      low += each.low;
      expected += each.expected;
      high += each.high;
    }
  }
  return { worstCase, expected: { low, expected, high } };
}

/**
 * Reads what earlier calls for such people cost. Without calls for people who were found before, it takes calls for new
 * people, and divides their price by the share of people who were found: who was found once is usually found again.
 */
async function readExperience(
  warehouse: Warehouse,
  asked: Parameters<typeof readCallHistory>[1],
  source: string,
  people: PeopleAsked,
): Promise<CallHistory | undefined> {
  const same = await readCallHistory(warehouse, asked, source, people);
  if (same || people === 'new') return same;
  const others = await readCallHistory(warehouse, asked, source, 'new');
  if (!others || others.foundShare === 0) return others;
  return { ...others, perPerson: BigInt(Math.round(Number(others.perPerson) / others.foundShare)) };
}

async function perFoundPerson(
  warehouse: Warehouse,
  asked: Parameters<typeof readCallHistory>[1] & Parameters<typeof askOf>[0],
  source: string,
): Promise<Credits> {
  const history = await readExperience(warehouse, asked, source, 'found before');
  return history?.perPerson ?? assumedCredits(askOf(asked), 'found before').expected;
}

/**
 * Expected credits of people: from earlier calls, otherwise from an assumption. One call has no range. Calls for other
 * sources do not show how much sources differ, so their range includes the assumed range.
 */
function expectedOf(
  ask: Ask,
  history: CallHistory | undefined,
  kind: PeopleAsked,
  people: number,
): ExpectedCredits {
  const { low, expected, high } = assumedCredits(ask, kind);
  const all = BigInt(people);
  const assumed = { low: low * all, expected: (history?.perPerson ?? expected) * all, high: high * all };
  if (history?.deviation === undefined) return assumed;
  const calls = Math.ceil(people / peoplePerCall);
  const experienced = experiencedCredits({ ...history, deviation: history.deviation }, { people, calls });
  if (history.source !== null) return experienced;
  return {
    low: assumed.low < experienced.low ? assumed.low : experienced.low,
    expected: experienced.expected,
    high: assumed.high > experienced.high ? assumed.high : experienced.high,
  };
}

/** Rounds to tenths, keeps low ≤ expected ≤ high, and caps all three at the worst case. */
function roundedWithin(worstCase: Credits, credits: ExpectedCredits): ExpectedCredits {
  const rounded = (level: keyof ExpectedCredits): Credits => {
    const tenths = inTenths(credits[level]);
    return tenths < worstCase ? tenths : worstCase;
  };
  const [low, expected, high] = [rounded('low'), rounded('expected'), rounded('high')];
  // The cost of a single call can lie outside of the assumed range.
  return { low: low < expected ? low : expected, expected, high: high > expected ? high : expected };
}

/** Estimates have one decimal: more digits would suggest precision. */
function inTenths(credits: Credits): Credits {
  const tenth = 100_000n;
  return ((credits + tenth - 1n) / tenth) * tenth;
}

/** The figures of a plan, before prices and times. */
export interface PlannedRows extends Pick<
  PlanSummary,
  'planHash' | 'rows' | 'dropped' | 'people' | 'foundBefore' | 'peopleWithoutPhones' | 'calls' | 'pages'
> {
  /** People per groups of fields that their calls leave out. */
  readonly byLeftOut: readonly {
    readonly groups: readonly string[];
    readonly people: number;
    /** Of `people`: those whom an earlier call found. */
    readonly foundBefore: number;
    /** Of `people`: those for whom earlier calls asked, and whom they did not find. */
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
