import { sql, type Kysely, type RawBuilder } from 'kysely';
import { peoplePerCall, peoplePerPage } from '../contract/batch-sizes.ts';
import { runPriorities, type RunPriority } from '../contract/run-priorities.ts';
import type { Tables } from '../db/schema.ts';

/** A batch that waits for its call. */
export interface ReadyBatch {
  readonly runId: string;
  readonly batch: number;
  readonly priority: RunPriority;
}

/** Batches of one run that wait for their calls. */
export type ReadyBatches = Omit<ReadyBatch, 'batch'> & { readonly batches: readonly number[] };

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
  await registration({ ...ready, batches: [ready.batch] }, milliseconds).execute(database);
}

/** The statement of `registerWaitingBatch`, for several batches. */
export function registration(ready: ReadyBatches, milliseconds = 0): RawBuilder<unknown> {
  return sql`
    insert into waiting_batches (run_id, batch, waits_until)
    select ${ready.runId}, batch, clock_timestamp() + make_interval(secs => ${milliseconds / 1_000 + believedSeconds})
    from unnest(${ready.batches}::integer[]) as batch
    where ${ready.priority !== runPriorities.at(-1)}
    order by batch
    on conflict (run_id, batch) do update set waits_until = excluded.waits_until
  `;
}

/**
 * Registers the batches of a page that is being opened, in its transaction. A batch that Temporal has yet to hand to a
 * worker also keeps its slot: under load that takes long enough for a dozen calls of a lower priority.
 */
export async function registerPage(
  database: Kysely<Tables>,
  runId: string,
  batches: readonly number[],
): Promise<void> {
  await sql`
    insert into waiting_batches (run_id, batch, waits_until)
    select r.run_id, batch, clock_timestamp() + make_interval(secs => ${believedSeconds})
    from runs r, unnest(${batches}::integer[]) as batch
    where r.run_id = ${runId} and r.options ->> 'priority' <> ${runPriorities.at(-1)}
    order by batch
    on conflict (run_id, batch) do update set waits_until = excluded.waits_until
  `.execute(database);
}

/** Removes the registration of a batch that needs no call. Admission removes the others. */
export async function deregisterWaitingBatch(
  database: Kysely<Tables>,
  { runId, batch, priority }: ReadyBatch,
): Promise<void> {
  if (priority === runPriorities.at(-1)) return;
  await database
    .deleteFrom('waiting_batches')
    .where('run_id', '=', runId)
    .where('batch', '=', batch)
    .execute();
}

/** Removes the registrations of a page's batches: other runs may use their slots. @param page from 1 */
export async function deregisterPage(database: Kysely<Tables>, runId: string, page: number): Promise<void> {
  const batchesPerPage = peoplePerPage / peoplePerCall;
  await database
    .deleteFrom('waiting_batches')
    .where('run_id', '=', runId)
    .where('batch', '>', (page - 1) * batchesPerPage)
    .where('batch', '<=', page * batchesPerPage)
    .execute();
}

/** Returns how many slots a call of this priority leaves free: one for each batch that goes before it. */
export async function reservedSlots(database: Kysely<Tables>, priority: RunPriority): Promise<number> {
  const { rows } = await sql<{ slots: number }>`
    select count(*)::int as slots from batches_before(${priority})
  `.execute(database);
  return rows[0]!.slots;
}

/** Deletes expired registrations, such as those of ended runs. */
export async function deleteExpiredBatches(database: Kysely<Tables>): Promise<void> {
  await sql`delete from waiting_batches where waits_until < clock_timestamp()`.execute(database);
}
