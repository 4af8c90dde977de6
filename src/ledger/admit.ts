import { createHash, randomBytes } from 'node:crypto';
import { sql, type Kysely, type RawBuilder } from 'kysely';
import { formatCredits, type Credits } from '../domain/money/decimal.ts';
import { type RunPriority, runPriorities } from '../contract/temporal-names.ts';
import type { RateLimit } from '../domain/rates/rate-limit.ts';
import { GroupCommit } from '../db/group-commit.ts';
import type { Tables } from '../db/schema.ts';
import { dropSuppressed } from '../suppression/drop-suppressed.ts';
import { withSuppressionsLocked } from '../suppression/suppression-list.ts';
import type { BudgetLimits, BudgetAlarm } from './credit-ledger.ts';
import { bulkMatchScope, limitArrays, toSlotWait, type SqlSlotWait, type SlotWait } from './rate-windows.ts';
import type { BatchesRequest } from '../contract/activities.ts';
import type { PauseReason } from '../contract/pause-reasons.ts';
import { isEventAllowed } from '../db/run-states.ts';

export interface AdmissionRequest {
  /** Id that the caller creates, so that the caller can release the call if the reply to the admission is lost. */
  readonly attemptId: string;
  readonly runId: string;
  readonly batch: number;
  readonly priority: RunPriority;
  /** Rows of the export, in the order of `details` in the request. */
  readonly rowNumbers: readonly number[];
  readonly creditsPerPerson: Credits;
  /** Longest time from admission to the end of the call, in seconds. */
  readonly deadlineSeconds: number;
  /** True if the request is for late results. Then it needs a webhook URL with a token. */
  readonly lateResults: boolean;
}

export interface AdmissionLimits {
  /** Name of the service in the options of runs. */
  readonly service: string;
  readonly rateLimits: readonly RateLimit[];
  readonly budgets: BudgetLimits;
}

/** Result of a request to admit a call: the reserved credits and slot, or why the call must wait or stop. */
export type Admission =
  | {
      readonly kind: 'admitted';
      readonly attemptId: string;
      /** The first of the requested rows, as many as every budget can pay for. */
      readonly rowNumbers: readonly number[];
      /** Secret part of the webhook URL, stored only as a hash; undefined if no late results are requested. */
      readonly token: string | undefined;
      readonly alarms: readonly BudgetAlarm[];
    }
  | ({ readonly kind: 'wait' } & SlotWait)
  | {
      readonly kind: 'over_budget';
      readonly budget: string;
      readonly mayFreeCredits: boolean;
      readonly alarms: readonly BudgetAlarm[];
    }
  /** Another worker has an answer about some of the people, has suppressed them, or makes a call for them. */
  | { readonly kind: 'taken' }
  /** The run was paused or cancelled, or has ended. */
  | { readonly kind: 'not_running'; readonly status: string };

/** Maximum number of calls per transaction. Fewer commits mean fewer flushes to disk while locks are held. */
const maxCallsTogether = 32;

/** Returns a function that admits calls: the first at once, those that arrive meanwhile together, grouped by run. */
export function createAdmission(
  database: Kysely<Tables>,
  limits: AdmissionLimits,
): (request: AdmissionRequest) => Promise<Admission> {
  const groups = new GroupCommit<AdmissionRequest, Admission>({
    commit: (requests) => admitAll(database, requests, limits),
    // Priority and deadline are the same for all calls of a run in this process.
    isSameGroup: (one, other) => one.runId === other.runId && one.creditsPerPerson === other.creditsPerPerson,
    longestGroup: maxCallsTogether,
  });
  return (request) => groups.commit(request);
}

/**
 * Admits calls of one run in one statement, the SQL function `admit_calls`. Each call gets a slot in every rate window,
 * a reservation of its worst case in every budget, and an attempt. After the commit a request may be sent at any time.
 */
async function admitAll(
  database: Kysely<Tables>,
  requests: readonly AdmissionRequest[],
  limits: AdmissionLimits,
): Promise<readonly Admission[]> {
  const admissions = await admitCalls(database, requests, limits, false);
  if (admissions !== undefined) return admissions;
  return withSuppressionsLocked(database, async (transaction) => {
    const allowed: AdmissionRequest[] = [];
    for (const request of requests) {
      const asked = sql`select unnest(${request.rowNumbers}::int[])`;
      if ((await dropSuppressed(transaction, request.runId, asked)) === 0) allowed.push(request);
    }
    const admitted = allowed.length > 0 ? await admitCalls(transaction, allowed, limits, true) : [];
    return requests.map((request) => admitted?.[allowed.indexOf(request)] ?? { kind: 'taken' });
  });
}

/** The result of the SQL function `admit_calls`. It refers to calls by their index in the request, called place. */
interface Admitted {
  readonly run_status: string | null;
  /** Places of calls for people who have no answer yet and are in no other call. */
  readonly asked: readonly number[];
  /** Number of people by the place of the call; null if nothing is admitted. */
  readonly admitted: Readonly<Record<string, number>> | null;
  /** Why the calls must wait for a slot; null if a slot is free. */
  readonly wait: SqlSlotWait | null;
  readonly short_budget: string | null;
  readonly alarms: readonly BudgetAlarm[] | null;
  readonly may_free_credits: boolean;
}

/** Makes the caller try again at once, because a slot became free during the admission. */
const freeAgain: SlotWait = { milliseconds: 1, reason: 'a slot has become free' };

/** Runs `admit_calls`. @returns undefined if people must be compared with the suppression list first */
async function admitCalls(
  database: Kysely<Tables>,
  requests: readonly AdmissionRequest[],
  { service, rateLimits, budgets }: AdmissionLimits,
  suppressionsChecked: boolean,
): Promise<Admission[] | undefined> {
  const asked = requests.map((request) => ({
    request,
    // The secret part of the webhook URL: 256 random bits in 43 characters.
    token: request.lateResults ? randomBytes(32).toString('base64url') : undefined,
  }));
  const calls = asked.map(({ request, token }, place) => ({
    place,
    attempt_id: request.attemptId,
    batch: request.batch,
    token_hash: token === undefined ? null : hashToken(token).toString('hex'),
    row_numbers: request.rowNumbers,
  }));
  const { runId, priority, creditsPerPerson, deadlineSeconds } = requests[0]!;
  const { rows } = await sql<Admitted>`
    select * from admit_calls(${runId}, ${priority}, ${formatCredits(creditsPerPerson)}::numeric,
      ${deadlineSeconds}::float8, ${JSON.stringify(calls)}::jsonb, ${service}, ${bulkMatchScope},
      ${limitArrays(rateLimits)}, ${budgets.alarmsAt ?? []}::integer[], ${suppressionsChecked})
  `.execute(database);
  const [result] = rows;
  if (!result) return undefined;
  return asked.map(({ request, token }, place): Admission => {
    if (!result.asked.includes(place)) return { kind: 'taken' };
    if (result.run_status !== 'running')
      return { kind: 'not_running', status: result.run_status ?? 'missing' };
    const people = result.admitted?.[place];
    const { short_budget: budget, may_free_credits: mayFreeCredits } = result;
    if (people === undefined && (result.wait || budget === null))
      return { kind: 'wait', ...(result.wait ? toSlotWait(result.wait) : freeAgain) };
    // If calls of one group cross a budget threshold together, only the first call reports it.
    const alarms = place === Math.min(...result.asked) ? (result.alarms ?? []) : [];
    if (people === undefined) return { kind: 'over_budget', budget: budget!, mayFreeCredits, alarms };
    const rowNumbers = request.rowNumbers.slice(0, people);
    return { kind: 'admitted', attemptId: request.attemptId, rowNumbers, token, alarms };
  });
}

/** Hashes a webhook token. The database stores only the hash. */
export function hashToken(token: string): Buffer {
  return createHash('sha256').update(token).digest();
}

/** Pauses a run that makes calls; no worker then sends another call. @returns true if it is now paused for this */
export async function pauseCalls(
  database: Kysely<Tables>,
  runId: string,
  pauseReason: PauseReason,
): Promise<boolean> {
  const paused = await sql`
    update runs set status = 'paused', pause_reason = ${JSON.stringify(pauseReason)}::jsonb
    where run_id = ${runId} and ${isEventAllowed('pause_by_call')}
  `.execute(database);
  return paused.numAffectedRows === 1n;
}

export type BatchesOfRun = Pick<BatchesRequest, 'runId' | 'batches'>;

/**
 * Seconds for which a registration outlasts the batch's expected wait: the longest time that Temporal leaves an
 * activity in a worker's queue. If a worker dies, its registrations last until other workers have taken its batches.
 */
const believedSeconds = 30 * 60;

/**
 * Registers batches as waiting until they are admitted. Calls of lower priority leave a slot free for each, also while
 * Temporal has not given the batch to a worker. Otherwise a nightly batch competes with backfills of other workers.
 *
 * @param milliseconds the shortest time that the batches will wait
 */
export async function registerWaitingBatches(
  database: Kysely<Tables>,
  waiting: BatchesOfRun,
  milliseconds = 0,
): Promise<void> {
  await registrationSql(waiting, milliseconds).execute(database);
}

/** SQL that registers batches as waiting, except of the lowest priority, because no batch leaves a slot for them. */
export function registrationSql({ runId, batches }: BatchesOfRun, milliseconds = 0): RawBuilder<unknown> {
  return sql`
    insert into waiting_batches (run_id, batch, waits_until)
    select r.run_id, batch, clock_timestamp() + make_interval(secs => ${milliseconds / 1_000 + believedSeconds})
    from runs r, unnest(${batches}::integer[]) as batch
    where r.run_id = ${runId} and r.options ->> 'priority' <> ${runPriorities.at(-1)}
    order by batch
    on conflict (run_id, batch) do update set waits_until = excluded.waits_until
  `;
}

/**
 * Removes registrations of batches that make no call now (by default all of the run), so that others use the slots.
 * Admission removes the registrations of batches that it admits.
 */
export async function deregisterWaitingBatches(
  database: Kysely<Tables>,
  runId: string,
  batches: { readonly first?: number; readonly last?: number } = {},
): Promise<void> {
  await sql`
    delete from waiting_batches
    where run_id = ${runId} and batch >= ${batches.first ?? 1} and batch <= coalesce(${batches.last ?? null}, batch)
  `.execute(database);
}

/** Deletes registrations of waiting batches that were not renewed in time. */
export async function deleteExpiredBatches(database: Kysely<Tables>): Promise<void> {
  await sql`delete from waiting_batches where waits_until < clock_timestamp()`.execute(database);
}
