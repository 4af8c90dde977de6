import { sql, type Kysely, type RawBuilder } from 'kysely';
import type { Warehouse } from '../db/database.ts';
import type { Tables } from '../db/schema.ts';
import { isInScope, type LateScope } from './expected-results.ts';

export interface DuePoll {
  readonly attemptId: string;
  readonly requestId: string;
  /** Number of polls of the attempt, this poll included. */
  readonly polls: number;
  /** The run no longer waits for the results. */
  readonly waitIsOver: boolean;
}

/** SQL condition: an attempt `a` is a call to the service. The ids of requests mean nothing to another service. */
function isCallTo(service: string): RawBuilder<boolean> {
  return sql`exists (select 1 from runs r where r.run_id = a.run_id and r.options ->> 'service' = ${service})`;
}

/** Whether a run belongs to a service: only this service can be polled for the run. */
export async function belongsTo(warehouse: Warehouse, runId: string, service: string): Promise<boolean> {
  const { rows } = await sql<{ belongs: boolean }>`
    select options ->> 'service' = ${service} as belongs from runs where run_id = ${runId}
  `.execute(warehouse.database);
  return rows[0]?.belongs === true;
}

/** A poll of a killed process is due again after this time. */
const leaseSeconds = 120;

/** Takes due polls of a service, earliest first, so that no other process makes them. */
export async function takeDuePolls(
  warehouse: Warehouse,
  service: string,
  scope: LateScope,
  limit: number,
): Promise<DuePoll[]> {
  const due = await sql<DuePoll>`
    update attempts set polls = polls + 1, next_poll_at = clock_timestamp() + make_interval(secs => ${leaseSeconds})
    where attempt_id in (
      select a.attempt_id from attempts a
      where a.status = 'awaiting' and a.request_id is not null and a.next_poll_at <= clock_timestamp()
        and ${isInScope(scope, sql`a.run_id`, sql`a.next_poll_at`)} and ${isCallTo(service)}
      order by a.next_poll_at limit ${limit} for update skip locked)
    returning attempt_id as "attemptId", request_id as "requestId", polls,
      awaited_until <= clock_timestamp() as "waitIsOver"
  `.execute(warehouse.database);
  return due.rows;
}

/** Schedules the next poll. One poll is made at the deadline, so that no available result expires. */
export async function postponePoll(warehouse: Warehouse, attemptId: string, seconds: number): Promise<void> {
  await sql`
    update attempts set next_poll_at = least(clock_timestamp() + make_interval(secs => ${seconds}),
      case when awaited_until > clock_timestamp() then awaited_until end)
    where attempt_id = ${attemptId} and status = 'awaiting'
  `.execute(warehouse.database);
}

/**
 * Returns a poll that was taken but not made: it is due again, and its pause does not grow.
 */
export async function returnPoll(warehouse: Warehouse, attemptId: string): Promise<void> {
  await sql`
    update attempts set polls = greatest(0, polls - 1) where attempt_id = ${attemptId} and status = 'awaiting'
  `.execute(warehouse.database);
  await postponePoll(warehouse, attemptId, 0);
}

/** Stops the polls of a request; a delivery may still arrive. */
export async function stopPolling(
  database: Kysely<Tables>,
  attemptId: string,
  reason: string,
): Promise<void> {
  await sql`
    update attempts
    set next_poll_at = null,
      reason = coalesce(reason, ${reason})
    where attempt_id = ${attemptId} and status = 'awaiting'
  `.execute(database);
}
