import { sql, type Kysely, type RawBuilder } from 'kysely';
import { runPriorities } from '../contract/run-priorities.ts';
import type { Tables } from '../db/schema.ts';

export interface BatchesOfRun {
  readonly runId: string;
  /** From 1 within the run. */
  readonly batches: readonly number[];
}

/**
 * How long a registration lasts beyond the batch's known wait: the longest time that Temporal lets an activity wait in
 * a worker's queue. If a worker dies, its registrations last until the batches run at another worker.
 */
const believedSeconds = 30 * 60;

/**
 * Registers batches as waiting until they are admitted. For each registered batch, calls of lower priorities leave one
 * slot free in every window. Each worker orders only its own queue, so without this a nightly batch would compete for
 * each slot with the backfills of all other workers. A batch that Temporal has yet to hand to a worker also keeps its
 * slot: under load that takes long enough for a dozen calls of a lower priority.
 *
 * @param milliseconds the shortest time that the batches will wait
 */
export async function registerWaitingBatches(
  database: Kysely<Tables>,
  waiting: BatchesOfRun,
  milliseconds = 0,
): Promise<void> {
  await registration(waiting, milliseconds).execute(database);
}

/**
 * The statement of `registerWaitingBatches`. Batches of the lowest priority are not registered, because no other batch
 * leaves a slot for them.
 */
export function registration({ runId, batches }: BatchesOfRun, milliseconds = 0): RawBuilder<unknown> {
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
 * Removes the registrations of batches that make no call now: other runs may use their slots. Admission removes the
 * registrations of batches that call.
 *
 * @param batches undefined: all batches of the run
 */
export async function deregisterWaitingBatches(
  database: Kysely<Tables>,
  runId: string,
  batches?: { readonly first: number; readonly last: number },
): Promise<void> {
  await database
    .deleteFrom('waiting_batches')
    .where('run_id', '=', runId)
    .$if(batches !== undefined, (query) =>
      query.where('batch', '>=', batches!.first).where('batch', '<=', batches!.last),
    )
    .execute();
}

export async function deleteExpiredBatches(database: Kysely<Tables>): Promise<void> {
  await sql`delete from waiting_batches where waits_until < clock_timestamp()`.execute(database);
}
