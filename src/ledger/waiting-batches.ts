import { sql, type Kysely, type RawBuilder } from 'kysely';
import { taskPriorities, type RunPriority } from '../contract.ts';
import type { Tables } from '../db/schema.ts';

/** Every priority, the highest first. */
const inOrder = (Object.keys(taskPriorities) as RunPriority[]).sort(
  (one, other) => taskPriorities[one] - taskPriorities[other],
);

/** A batch that waits for its call. */
export interface ReadyBatch {
  readonly runId: string;
  readonly batch: number;
  readonly priority: RunPriority;
}

/**
 * How long a registration lasts beyond the batch's known wait: the longest time that Temporal lets an activity wait in
 * a worker's queue. If a worker dies, its registrations last until the batches run at another worker.
 */
const believedSeconds = 30 * 60;

/**
 * Registers a batch as waiting until it is admitted. For each registered batch, calls of lower priorities leave one
 * slot free in every window. Each worker orders only its own queue, so without this a nightly batch would compete for
 * each slot with the backfills of all other workers.
 *
 * @param ready a batch of the lowest priority is not registered, because no other batch leaves a slot for it
 * @param milliseconds the shortest time that the batch will wait
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

/** Removes the registration of a batch that needs no call. Admission removes the others. */
export async function deregisterWaitingBatch(
  database: Kysely<Tables>,
  { runId, batch, priority }: ReadyBatch,
): Promise<void> {
  if (priority === inOrder.at(-1)) return;
  await sql`delete from waiting_batches where run_id = ${runId} and batch = ${batch}`.execute(database);
}

/**
 * Query for the waiting batches of running runs with a higher present priority. It names no table `r`, because callers
 * use that alias in `priority`.
 *
 * @param priority SQL expression
 */
export function batchesBefore(priority: RawBuilder<unknown>): RawBuilder<unknown> {
  return sql`
    select 1
    from waiting_batches w
    join runs higher using (run_id)
    where w.waits_until > clock_timestamp()
      and higher.status = 'running'
      and array_position(${inOrder}::text[], higher.options ->> 'priority')
        < array_position(${inOrder}::text[], ${priority})
  `;
}

/** Returns how many slots a call of this priority leaves free. */
export async function reservedSlots(database: Kysely<Tables>, priority: RunPriority): Promise<number> {
  if (priority === inOrder[0]) return 0;
  const { rows } = await sql<{ slots: number }>`
    select count(*)::int as slots from (${batchesBefore(sql`${priority}`)}) as batches
  `.execute(database);
  return rows[0]!.slots;
}

/** Deletes expired registrations, such as those of ended runs. */
export async function forgetOldBatches(database: Kysely<Tables>): Promise<void> {
  await sql`delete from waiting_batches where waits_until < clock_timestamp()`.execute(database);
}
