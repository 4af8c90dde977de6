import { sql, type RawBuilder } from 'kysely';
import type { Retention } from '../domain/runs/retention.ts';
import type { Warehouse } from '../db/database.ts';
import { countOldChanges, pruneChanges } from '../people/change-feed.ts';
import { pruneObservations } from '../people/replaced-observations.ts';
import { describeHeldRuns, retentionCutoff, measureRows, pruneRows } from './prune-rows.ts';

/** Number and stored size of removed bodies. */
interface Removed {
  readonly count: number;
  readonly bytes: number;
}

/** Data that is older than its retention: data to remove, and data that is still needed. */
export type PruneFigures = Awaited<ReturnType<typeof measurePrune>>;

type BodyKind = 'answers' | 'deliveries' | 'quarantine';

/** Number of bodies per transaction. It is small, because a body can be 1 MB and transactions must be short. */
const bodiesPerBatch = 200;

/** SQL condition: a call is closed: its cost is settled, its answer digested, and every delivery applied. */
const closedCall = sql`r.finished_at is not null and a.credits_settled is not null
  and not exists (
    select 1 from webhook_deliveries w where w.attempt_id = a.attempt_id and w.status = 'received')
  and not exists (select 1 from digest_queue q where q.owner = a.attempt_id and q.kind = 'answer')`;

/** SQL of bodies `b` of each kind, and the statement that removes the bodies in `old`. Each condition has an index. */
const bodies: Readonly<
  Record<BodyKind, Readonly<Record<'table' | 'id' | 'body' | 'which' | 'remove', RawBuilder<unknown>>>>
> = {
  answers: {
    table: sql`raw_answers`,
    id: sql`b.attempt_id`,
    body: sql`b.body_gzip`,
    which: sql`true`,
    remove: sql`delete from raw_answers b using old where b.attempt_id = old.id`,
  },
  deliveries: ofDeliveries(sql`b.status in ('applied', 'duplicate')`),
  // Quarantined deliveries have their own retention, because `enrich inbox replay` can apply them.
  quarantine: ofDeliveries(sql`b.status = 'quarantined'`),
};

/** SQL for bodies of deliveries. The rows stay: they show what was billed, and recognise repeated bodies. */
function ofDeliveries(status: RawBuilder<unknown>): (typeof bodies)[BodyKind] {
  return {
    table: sql`webhook_deliveries`,
    id: sql`b.delivery_id`,
    body: sql`b.body`,
    which: sql`${status} and b.body is not null`,
    remove: sql`update webhook_deliveries b set body = null from old where b.delivery_id = old.id`,
  };
}

/** SQL of bodies that are older than their retention, with their call `a` and its run `r`. */
const oldBodies = (kind: BodyKind, retention: Retention): RawBuilder<unknown> => sql`
  from ${bodies[kind].table} b
  join attempts a using (attempt_id)
  join runs r on r.run_id = a.run_id
  where ${bodies[kind].which} and b.received_at < ${retentionCutoff(retention[kind])}`;

/** Counts what `prune` would remove, and changes nothing. */
export async function measurePrune(warehouse: Warehouse, retention: Retention) {
  return {
    ...(await measureNeeded(warehouse, retention)),
    /** Observations that newer observations have replaced. */
    observations: { count: await removeOldReplaced(warehouse, retention) },
    changes: { count: await countOldChanges(warehouse, retentionCutoff(retention.changes)) },
  };
}

/** Removes replaced observations that are older than their retention. @param signal undefined: only counts them */
async function removeOldReplaced(
  warehouse: Warehouse,
  { observations: seconds }: Retention,
  signal?: AbortSignal,
): Promise<number> {
  return seconds === undefined ? 0 : pruneObservations(warehouse, retentionCutoff(seconds), signal);
}

/** Counts old bodies and rows, and which of them open calls and deliveries still need. */
async function measureNeeded(warehouse: Warehouse, retention: Retention) {
  const { held, ...removable } = await measureBodies(warehouse, retention);
  const staging = await measureRows(warehouse, 'staging', retention);
  const rows = await measureRows(warehouse, 'rows', retention);
  return {
    ...removable,
    /** Number of rows that lose their personal data. */
    staging: staging.pruned,
    rows: rows.pruned,
    /** Runs with data that is older than its retention, but still needed by an open call or delivery. */
    held: await describeHeldRuns(warehouse.database, [...held, ...staging.keptRuns, ...rows.keptRuns]),
  };
}

/** Counts the old bodies of closed calls by kind. `held`: runs with old bodies of calls that are not closed. */
async function measureBodies({ database }: Warehouse, retention: Retention) {
  const kinds = Object.keys(bodies) as BodyKind[];
  const measured = kinds.map(
    (kind) => sql`
      select ${sql.lit(kind)} as kind, r.run_id, octet_length(${bodies[kind].body}) as bytes, ${closedCall} as closed
      ${oldBodies(kind, retention)}`,
  );
  const { rows } = await sql<Removed & { kind: BodyKind; held: string[] }>`
    select kind, count(*) filter (where closed)::int as count,
      coalesce(sum(bytes) filter (where closed), 0)::float8 as bytes,
      coalesce(array_agg(distinct run_id) filter (where not closed), '{}') as held
    from (${sql.join(measured, sql` union all `)}) old
    group by kind
  `.execute(database);
  const of = (kind: BodyKind): Removed => {
    const { count, bytes } = rows.find((row) => row.kind === kind) ?? { count: 0, bytes: 0 };
    return { count, bytes };
  };
  return {
    answers: of('answers'),
    deliveries: of('deliveries'),
    quarantine: of('quarantine'),
    held: rows.flatMap(({ held }) => held),
  };
}

/**
 * Removes data that is older than its retention and no longer needed. Calls, credits, outcomes, hashes of deliveries,
 * contacts and the lookup history stay. Short transactions skip locked rows, so workers can run at the same time.
 *
 * @param signal aborts between two batches
 * @returns what was removed, and what is old but still needed
 */
export async function prune(
  warehouse: Warehouse,
  retention: Retention,
  signal: AbortSignal,
): Promise<PruneFigures> {
  const answers = await pruneBodies(warehouse, 'answers', retention, signal);
  const deliveries = await pruneBodies(warehouse, 'deliveries', retention, signal);
  const quarantine = await pruneBodies(warehouse, 'quarantine', retention, signal);
  const staging = await pruneRows(warehouse, 'staging', retention, signal);
  const rows = await pruneRows(warehouse, 'rows', retention, signal);
  const observations = { count: await removeOldReplaced(warehouse, retention, signal) };
  const changes = { count: await pruneChanges(warehouse, retentionCutoff(retention.changes), signal) };
  const { held } = await measureNeeded(warehouse, retention);
  return { answers, deliveries, quarantine, staging, rows, observations, changes, held };
}

/** Removes the old bodies of closed calls, the oldest first, in batches of one transaction each. */
async function pruneBodies(
  { database }: Warehouse,
  kind: BodyKind,
  retention: Retention,
  signal: AbortSignal,
): Promise<Removed> {
  const { id, body, remove } = bodies[kind];
  let [count, bytes] = [0, 0];
  while (!signal.aborted) {
    const { rows } = await sql<Removed>`
      with old as (
        select ${id} as id, octet_length(${body}) as bytes
        ${oldBodies(kind, retention)} and ${closedCall}
        order by b.received_at limit ${bodiesPerBatch} for update of b skip locked
      ), removed as (${remove} returning old.bytes)
      select count(*)::int as count, coalesce(sum(bytes), 0)::float8 as bytes from removed
    `.execute(database);
    const [removed] = rows;
    count += removed!.count;
    bytes += removed!.bytes;
    if (removed!.count < bodiesPerBatch) break;
  }
  return { count, bytes };
}
