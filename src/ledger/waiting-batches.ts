import { sql, type Kysely, type RawBuilder } from 'kysely';
import { taskPriorities, type RunPriority } from '../contract.ts';
import type { Tables } from '../db/schema.ts';

/** Every priority, whose calls go first first. */
const inOrder = (Object.keys(taskPriorities) as RunPriority[]).sort(
  (one, other) => taskPriorities[one] - taskPriorities[other],
);

/** As the runs name it, with its number; and the run's priority. */
export interface ReadyBatch {
  readonly runId: string;
  readonly batch: number;
  readonly priority: RunPriority;
}

/**
 * For how long a batch that has said that it is ready is believed, beyond the wait it knows of: the longest that
 * Temporal lets an activity wait in the queue of a worker. What a worker that died has said holds until the batch runs
 * again, at another one.
 */
const believedSeconds = 30 * 60;

/**
 * Tells all workers that a batch is ready for its call, until it is admitted: for each that waits, calls of lower
 * priorities leave a slot in every window free. Each worker orders the calls of its own queue; without this, a batch of
 * the night would have to win each slot that becomes free from the backfills of all other workers.
 *
 * @param ready a batch of the lowest priority is not registered: no other batch leaves a slot for it
 * @param milliseconds how long it is known to wait at least
 */
export async function registerWaitingBatch(
  database: Kysely<Tables>,
  ready: ReadyBatch,
  milliseconds = 0,
): Promise<void> {
  if (ready.priority === inOrder.at(-1)) return;
  await sql`
    insert into waiting_batches (run_id, batch, waits_until)
    values (${ready.runId}, ${ready.batch},
      clock_timestamp() + make_interval(secs => ${milliseconds / 1_000 + believedSeconds}))
    on conflict (run_id, batch) do update set waits_until = excluded.waits_until
  `.execute(database);
}

/** A batch that needs no call after all waits no longer. Admission does the same for those that get one. */
export async function deregisterWaitingBatch(
  database: Kysely<Tables>,
  { runId, batch, priority }: ReadyBatch,
): Promise<void> {
  if (priority === inOrder.at(-1)) return;
  await sql`delete from waiting_batches where run_id = ${runId} and batch = ${batch}`.execute(database);
}

/**
 * Batches that go before a run's, as a query: what a run that does not run any more had waiting does not count, and a
 * run's priority is the one that it has now.
 *
 * @param priority an expression of SQL
 */
export function batchesBefore(priority: RawBuilder<unknown>): RawBuilder<unknown> {
  return sql`
    select 1 from waiting_batches w join runs first using (run_id)
    where w.waits_until > clock_timestamp() and first.status = 'running'
      and array_position(${inOrder}::text[], first.options ->> 'priority') < array_position(${inOrder}::text[], ${priority})
  `;
}

/** How many slots are kept from a call of this priority. */
export async function reservedSlots(database: Kysely<Tables>, priority: RunPriority): Promise<number> {
  if (priority === inOrder[0]) return 0;
  const { rows } = await sql<{ places: number }>`
    select count(*)::int as places from (${batchesBefore(sql`${priority}`)}) as batches
  `.execute(database);
  return rows[0]!.places;
}

/** Forgets batches that are not believed to wait any more: their run was ended, or their worker. */
export async function forgetOldBatches(database: Kysely<Tables>): Promise<void> {
  await sql`delete from waiting_batches where waits_until < clock_timestamp()`.execute(database);
}
