import { sql, type Transaction } from 'kysely';
import { nameList } from '../db/expressions.ts';
import { answeredOutcomes } from '../domain/runs/outcome.ts';
import { peoplePerCall, peoplePerPage } from '../domain/runs/batching.ts';
import { needsResume, type PauseReason, type StatusReason } from '../contract/pause-reasons.ts';
import { describeRate, hasFallenBelow, matchRate, type MatchCounts } from '../domain/runs/match-rate.ts';
import type { Warehouse } from '../db/database.ts';
import { pauseCalls } from '../ledger/admit.ts';
import type { Tables } from '../db/schema.ts';
import type { PilotJudgement } from '../contract/activities.ts';
import type { RunStatus } from '../contract/run-transitions.ts';
import { requestsPhones } from '../domain/late-results/delivery-kinds.ts';
import { formatCount, formatPeopleCount, formatPercent } from '../domain/text/format.ts';
import { peopleWithRows } from './pages.ts';
import { getRun, type RunRecord } from './runs.ts';

/**
 * Puts a sample of the people in `plan_asked` without fresh fields on the first pages, in which each set of identifiers
 * has its share. @returns the first position after the pages of the pilot
 */
export async function placePilotFirst(
  transaction: Transaction<Tables>,
  runId: string,
  people: number,
): Promise<number> {
  // The sample is spread evenly over the rows, sorted by set of identifiers and then by the order of the file.
  const chosen = await sql`
    with ordered as (
      select row_number, found_before,
        row_number() over (
          order by person_id is null, email is null, hashed_email is null, profile_url is null,
            coalesce(name, first_name, last_name) is null, coalesce(domain, organization_name) is null, row_number
        ) as rank,
        least(${people}::integer, count(*) over ()) / (count(*) over ())::numeric as share
      from plan_asked
      join run_rows using (row_number)
      where run_id = ${runId} and left_out = '{}'
    )
    insert into run_people (run_id, position, row_number, found_before)
    select ${runId}, row_number() over (order by row_number) - 1, row_number, found_before
    from ordered
    where round(rank * share) > round((rank - 1) * share)
  `.execute(transaction);
  return countPages(Number(chosen.numAffectedRows)) * peoplePerPage;
}

/** Number of pages for this number of people. */
export function countPages(people: number): number {
  return Math.ceil(people / peoplePerPage);
}

interface PilotResult extends MatchCounts {
  /** Settled credits, as decimal text. Credits of unknown calls are added in `held`. */
  readonly settled: string;
  readonly held: string;
  /** Number of contacts that have a value in the field now. */
  readonly fields: { readonly email: number; readonly phone: number; readonly title: number };
}

/** Reads the result of a pilot. @param pages number of the pilot's pages, which are the first pages of the run */
async function readPilot(warehouse: Warehouse, runId: string, pages: number): Promise<PilotResult> {
  const rows = await sql<MatchCounts & PilotResult['fields']>`
    select count(*) filter (where r.outcome = 'enriched')::int as found,
      count(*) filter (where r.outcome in (${nameList(answeredOutcomes)}))::int as answered,
      count(c.email) filter (where r.outcome = 'enriched')::int as email,
      count(c.phone) filter (where r.outcome = 'enriched')::int as phone,
      count(c.title) filter (where r.outcome = 'enriched')::int as title
    from run_people p join run_rows r using (run_id, row_number) join runs using (run_id)
    left join enriched_contacts c on c.source = runs.source and c.contact_id = r.contact_id
    where p.run_id = ${runId} and p.position < ${pages * peoplePerPage}
  `.execute(warehouse.database);
  const money = await sql<{ settled: string; held: string }>`
    select trim_scale(coalesce(sum(credits_settled), 0))::text as settled,
      trim_scale(coalesce(sum(credits_reserved) filter (where credits_settled is null), 0))::text as held
    from attempts where run_id = ${runId} and batch <= ${(pages * peoplePerPage) / peoplePerCall}
  `.execute(warehouse.database);
  const { found, answered, ...fields } = rows.rows[0]!;
  return { found, answered, fields, ...money.rows[0]! };
}

/**
 * Records once that a pilot is judged, and pauses its run for the given reason.
 *
 * @returns why the run is paused; undefined: it continues; `postponed`: it is paused for another reason, and nothing is
 *   recorded. A pilot that was judged before has a reason only while the run is still paused for it.
 */
async function recordPilot(
  warehouse: Warehouse,
  runId: string,
  pauseReason: PauseReason | undefined,
): Promise<StatusReason | 'postponed' | undefined> {
  return warehouse.database.transaction().execute(async (transaction) => {
    const { rows } = await sql<{ judged: boolean; status: RunStatus; present: StatusReason | null }>`
      select pilot_judged_at is not null as judged, status, pause_reason as present
      from runs
      where run_id = ${runId}
      for update
    `.execute(transaction);
    const { judged, status, present } = rows[0]!;
    if (judged) return status === 'paused' && present?.type.startsWith('pilot.') ? present : undefined;
    if (pauseReason && status === 'paused' && needsResume(present)) return 'postponed';
    await sql`update runs set pilot_judged_at = clock_timestamp() where run_id = ${runId}`.execute(
      transaction,
    );
    if (pauseReason) await pauseCalls(transaction, runId, pauseReason);
    return pauseReason;
  });
}

/**
 * Judges a pilot once by the run's quality gates, or without gates pauses for the operator, who can overrule it by
 * resuming the run. A run that is paused for another reason is judged after it resumes.
 */
export async function judgePilot(warehouse: Warehouse, runId: string): Promise<PilotJudgement> {
  const run = await getRun(warehouse, runId);
  if (!run.plan?.pilot) throw new Error(`run ${runId} has no pilot`);
  const { people, pages } = run.plan.pilot;
  const result = await readPilot(warehouse, runId, pages);
  const summary = describePilot(people, result, requestsPhones(run.options));
  const pauseReason = await recordPilot(warehouse, runId, pauseReasonOf(run, result, summary));
  if (pauseReason === 'postponed') return { kind: pauseReason };
  return pauseReason ? { kind: 'pause', pauseReason } : { kind: 'continue', summary };
}

/** Describes a pilot, such as `pilot of 100 people; 70 of 100 found: 70.0 % (60.4 % to 78.1 %); 70 credits: …`. */
function describePilot(people: number, result: PilotResult, hasPhonePrice: boolean): string {
  const { found, answered, settled, held, fields } = result;
  const rate = matchRate(result);
  const prices = Object.entries(fields).flatMap(([field, count]) => {
    if (count === 0 || (field === 'phone' && !hasPhonePrice)) return [];
    // The credits of unknown calls count, because the service may have billed them.
    const each = (Number(settled) + Number(held)) / count;
    return [`${each.toFixed(2)} per ${field} (${count})`];
  });
  return [
    `pilot of ${formatPeopleCount(people)}`,
    rate ? `${found} of ${answered} found: ${describeRate(rate)}` : 'no answers yet',
    formatCount(settled, 'credit') +
      (held === '0' ? '' : ` and ${held} held`) +
      (prices.length === 0 ? '' : `: ${prices.join(', ')}`),
  ].join('; ');
}

/** Why a pilot pauses its run: no minimum match rate is set, or the rate is below; undefined: the run continues. */
function pauseReasonOf(
  { runId, options: { minMatchRate } }: RunRecord,
  result: PilotResult,
  summary: string,
): PauseReason | undefined {
  const next = `enrich resume ${runId} continues with everybody else; enrich cancel ${runId} ends it`;
  if (minMatchRate === null) return { type: 'pilot.done', reason: summary, next };
  if ((matchRate(result)?.rate ?? 0) >= minMatchRate) return undefined;
  const reason = `the match rate is below ${formatPercent(minMatchRate)}: ${summary}`;
  return { type: 'pilot.below', reason, next };
}

/** Calls that the match rate is computed from: 500 people, an interval of plus or minus seven percentage points. */
const callsWatched = 50;

/**
 * Returns why the run should pause: the match rate of the latest calls is below the minimum by more than chance, as
 * `hasFallenBelow` decides. Undefined: the run continues.
 *
 * @param minimum share from 0 to 1; null: no check
 */
export async function checkMatchRate(
  warehouse: Warehouse,
  runId: string,
  minimum: number | null,
): Promise<PauseReason | undefined> {
  if (minimum === null) return undefined;
  // The calls since the match rate last paused this run.
  const { rows } = await sql<MatchCounts>`
    select count(*) filter (where p.outcome = 'enriched')::int as found,
      count(*) filter (where p.outcome in (${nameList(answeredOutcomes)}))::int as answered
    from (
      select a.attempt_id from attempts a join runs r using (run_id)
      where a.run_id = ${runId} and a.answered_at is not null
        and (r.match_rate_since is null or a.answered_at > r.match_rate_since)
      order by a.answered_at desc limit ${callsWatched}
    ) latest join attempt_people p using (attempt_id)
  `.execute(warehouse.database);
  const latest = rows[0]!;
  if (!hasFallenBelow(minimum, latest) || !(await hasOpenPeople(warehouse, runId))) return undefined;
  const rate = matchRate(latest);
  return {
    type: 'match-rate.below',
    reason:
      `the match rate has fallen below ${formatPercent(minimum)}: ${latest.found} of the last ` +
      `${latest.answered} people were found, ${rate ? describeRate(rate) : ''}`,
    next: 'check the rows of the latest calls',
  };
}

/** True if people have no outcome yet. Otherwise a pause would only delay the end of the run. */
async function hasOpenPeople({ database }: Warehouse, runId: string): Promise<boolean> {
  const { rows } = await sql`
    select from ${peopleWithRows}
    where p.run_id = ${runId} and r.outcome is null
    order by p.position desc
    limit 1
  `.execute(database);
  return rows.length > 0;
}

/** Restarts the match rate of a paused run, because an operator who resumes the run accepts the results so far. */
export async function restartMatchRate(warehouse: Warehouse, runId: string): Promise<void> {
  await sql`
    update runs set match_rate_since = clock_timestamp() where run_id = ${runId}
  `.execute(warehouse.database);
}
