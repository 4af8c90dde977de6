import { createHash, randomUUID } from 'node:crypto';
import { sql, type Transaction } from 'kysely';
import { idStartsWith, requireSingleMatch } from '../db/expressions.ts';
import { resultsKeptByServiceSeconds, type DeliveryStatus } from '../domain/late-results/delivery-kinds.ts';
import { Problem, UsageProblem } from '../domain/problem.ts';
import type { Warehouse } from '../db/database.ts';
import type { Tables } from '../db/schema.ts';
import { isInScope, type LateResultsScope } from './expected-results.ts';
import { readLateResult, type LateResult } from '../service/answers/late-result.ts';
import { decompress } from '../service/transport.ts';

export interface StoredDelivery {
  readonly deliveryId: string;
  readonly runId: string;
}

/** A delivery as it arrived. The hash of the token in its URL names the attempt that it belongs to. */
export interface ArrivedDelivery {
  readonly tokenHash: Buffer;
  readonly body: Buffer;
}

/**
 * Stores the bytes of deliveries, even repeated ones, in one commit before the receiver answers 2xx.
 *
 * @returns what was stored for each delivery, in order; undefined if the token is unknown or has expired
 */
export async function storeDeliveries(
  warehouse: Warehouse,
  deliveries: readonly ArrivedDelivery[],
): Promise<(StoredDelivery | undefined)[]> {
  let end = 0;
  const arrived = deliveries.map((delivery) => {
    const first = end + 1;
    end += delivery.body.length;
    return { ...delivery, deliveryId: randomUUID(), first };
  });
  // The statement is written without the query builder because the receiver executes only this one, with unchanged
  // text. All bodies are one parameter, because the driver would turn an array of them into text of twice the size.
  const { rows } = await warehouse.pool.query<StoredDelivery>({
    name: 'store-deliveries',
    text: `insert into enrichment.webhook_deliveries
      (delivery_id, attempt_id, run_id, body, body_sha256)
      select d.delivery_id, a.attempt_id, a.run_id, substring($1::bytea from d.first for d.bytes), d.body_sha256
      from unnest($2::text[], $3::bytea[], $4::integer[], $5::integer[], $6::bytea[]) with ordinality
        as d (delivery_id, token_hash, first, bytes, body_sha256, place)
      join enrichment.attempts a on a.token_hash = d.token_hash
      join enrichment.runs r on r.run_id = a.run_id
      where now() < a.admitted_at + make_interval(
        secs => greatest($7, (r.options ->> 'lateDeadlineSeconds')::float8))
      order by d.place
      returning delivery_id as "deliveryId", run_id as "runId"`,
    values: [
      Buffer.concat(arrived.map(({ body }) => body)),
      arrived.map(({ deliveryId }) => deliveryId),
      arrived.map(({ tokenHash }) => tokenHash),
      arrived.map(({ first }) => first),
      arrived.map(({ body }) => body.length),
      arrived.map(({ body }) => sha256(body)),
      resultsKeptByServiceSeconds,
    ],
  });
  const stored = new Map(rows.map((row) => [row.deliveryId, row]));
  return arrived.map(({ deliveryId }) => stored.get(deliveryId));
}

/** Stores the body of a poll in the inbox, unless a body with the same bytes is already stored. */
export async function storePolledBody(warehouse: Warehouse, attemptId: string, body: Buffer): Promise<void> {
  const hash = sha256(body);
  await sql`
    insert into webhook_deliveries (delivery_id, attempt_id, run_id, origin, body, body_sha256)
    select ${randomUUID()}, attempt_id, run_id, 'poll', ${body}, ${hash} from attempts a where attempt_id = ${attemptId}
      and not exists (select 1 from webhook_deliveries d
        where d.attempt_id = a.attempt_id and d.body_sha256 = ${hash} and d.origin = 'poll')
  `.execute(warehouse.database);
}

/** A delivery that is stored but not applied. */
export interface WaitingDelivery {
  readonly deliveryId: string;
  readonly attemptId: string;
  readonly body: Buffer;
}

/** Reads the deliveries in the inbox, except of calls in flight, oldest first. */
export async function readWaitingDeliveries(
  warehouse: Warehouse,
  scope: LateResultsScope | { readonly attemptId: string },
  limit: number,
): Promise<WaitingDelivery[]> {
  const filter =
    scope === 'unattended' || 'runId' in scope
      ? isInScope(scope, sql`d.run_id`, sql`d.received_at`)
      : sql`d.attempt_id = ${scope.attemptId}`;
  const result = await sql<WaitingDelivery>`
    select d.delivery_id as "deliveryId", d.attempt_id as "attemptId", d.body
    from webhook_deliveries d join attempts a on a.attempt_id = d.attempt_id
    where d.status = 'received' and a.status <> 'admitted' and ${filter}
    order by d.received_at, d.delivery_id limit ${limit}
  `.execute(warehouse.database);
  return result.rows;
}

/** A delivery as commands show it. The body is left out, because it is personal data. */
export interface DeliveryFacts {
  readonly delivery_id: string;
  readonly run_id: string | null;
  readonly attempt_id: string | null;
  readonly origin: string;
  readonly status: DeliveryStatus;
  readonly late: boolean;
  readonly reason: string | null;
  /** Size of the body; null if the body is no longer stored. */
  readonly bytes: number | null;
  readonly body_sha256: string;
  readonly people: number;
  readonly credits: string | null;
  readonly received_at: Date;
  readonly applied_at: Date | null;
}

/** Lists deliveries, the newest first. @param filter undefined matches everything; an id may be its first characters */
export async function listDeliveries(
  warehouse: Warehouse,
  filter: { runId?: string | undefined; status?: string | undefined; deliveryId?: string; limit: number },
): Promise<DeliveryFacts[]> {
  const result = await sql<DeliveryFacts>`
    select delivery_id, run_id, attempt_id, origin, status, late, reason, octet_length(body) as bytes,
      encode(body_sha256, 'hex') as body_sha256, cardinality(person_ids) as people,
        trim_scale(credits)::text as credits,
      received_at, applied_at
    from webhook_deliveries
    where (${filter.runId ?? null}::text is null or run_id = ${filter.runId ?? null})
      and (${filter.status ?? null}::text is null or status = ${filter.status ?? null})
      and ${filter.deliveryId === undefined ? sql`true` : idStartsWith(sql`delivery_id`, filter.deliveryId)}
    order by received_at desc limit ${filter.limit}
  `.execute(warehouse.database);
  return result.rows;
}

/** Reads one delivery by its id or its first characters. @throws Problem `delivery.unknown`, `delivery.ambiguous` */
export async function getDelivery(warehouse: Warehouse, idOrPrefix: string): Promise<DeliveryFacts> {
  const found = await listDeliveries(warehouse, { deliveryId: idOrPrefix, limit: 2 });
  return requireSingleMatch(found, 'delivery', idOrPrefix, 'enrich inbox list shows the deliveries');
}

/** Returns the deliveries of a call to the inbox, because a late answer now names the people of the results. */
export async function reopenDeliveries(transaction: Transaction<Tables>, attemptId: string): Promise<void> {
  await sql`
    update webhook_deliveries set ${resetToReceived}
    where attempt_id = ${attemptId} and status <> 'received' and body is not null
  `.execute(transaction);
}

/** Returns a quarantined delivery to the inbox. @throws Problem `delivery.not-replayable`, `delivery.pruned` */
export async function reopenDelivery(warehouse: Warehouse, deliveryId: string): Promise<void> {
  const reopened = await sql`
    update webhook_deliveries set ${resetToReceived}
    where delivery_id = ${deliveryId} and status = 'quarantined' and body is not null
  `.execute(warehouse.database);
  if (Number(reopened.numAffectedRows) > 0) return;
  const { status } = await getDelivery(warehouse, deliveryId);
  if (status === 'quarantined')
    throw new Problem('delivery.pruned', `the body of delivery ${deliveryId} is no longer kept`, {
      where: 'enrichment.webhook_deliveries',
      next: 'no action is needed: the delivery changed no contact; RETENTION says how long bodies are kept',
    });
  throw new UsageProblem('delivery.not-replayable', `delivery ${deliveryId} is ${status}`, {
    where: 'enrichment.webhook_deliveries',
    next: 'replay only quarantined deliveries; enrich inbox list --status quarantined lists them',
  });
}

const resetToReceived = sql`status = 'received', reason = null, applied_at = null, subject = null,
  covers = '{}', brings = '{}', credits = null`;

function sha256(body: Buffer): Buffer {
  return createHash('sha256').update(body).digest();
}

/** Maximum size of a decompressed body in bytes, far above any result for ten people. It stops decompression bombs. */
const longestBody = 8 * 1_048_576;

/** Decompresses and parses the body of a stored delivery. @returns undefined if the body cannot be read */
export async function readStoredDelivery(stored: Buffer): Promise<LateResult | undefined> {
  const body = await decompress(stored, longestBody).catch(() => undefined);
  return body && readLateResult(body);
}
