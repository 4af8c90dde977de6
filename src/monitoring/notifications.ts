import { sql } from 'kysely';
import type { RunFacts, StatusReason } from '../contract.ts';
import type { NotifiedEvent } from '../domain/runs/notified-event.ts';
import type { Warehouse } from '../db/database.ts';
import { readRunFacts } from '../runs/run-facts.ts';

/** An event to deliver. */
export interface Notification {
  readonly notificationId: string;
  readonly event: NotifiedEvent;
  /** Null: an event of a budget. */
  readonly runId: string | null;
  readonly facts: Readonly<Record<string, unknown>> | null;
  readonly occurredAt: Date;
  /** Channels that have received the event. */
  readonly delivered: readonly string[];
  /** Number of tries, including this one. */
  readonly tries: number;
}

/** Fields of every notification. */
interface Occurrence {
  readonly event: NotifiedEvent;
  /** The same for each try, so that receivers can ignore repetitions. */
  readonly event_id: string;
  /** ISO 8601. */
  readonly occurred_at: string;
}

/** The object of `--json` at the time of sending, with status and reason of the event. */
export type RunMessage = Occurrence &
  RunFacts & {
    /** ISO 8601: time of rows, outcomes, calls and credits. A late notification has later figures. */
    readonly figures_at: string;
  };
/** An event of a budget that crossed a threshold. Credits are decimals as text. */
export type BudgetMessage = Occurrence & {
  readonly budget: string;
  readonly percent: number;
  readonly limit: string;
  readonly used: string;
};

/**
 * Older events are never delivered, such as those of a long outage or from before notifications were
 * configured.
 */
const longestAgeSeconds = 86_400;
/** If a process dies, another sends its events after this time, which is longer than all channels take. */
const leaseSeconds = 60;
const mostTries = 10;
const shortestPauseSeconds = 10;
const longestPauseSeconds = 1_800;

/**
 * Claims due events, oldest first. Other processes skip claimed events.
 *
 * @param events kinds of events to claim
 * @param limit maximum number of events
 */
export async function claimNotifications(
  warehouse: Warehouse,
  events: readonly NotifiedEvent[],
  limit: number,
): Promise<Notification[]> {
  const taken = await sql<Notification>`
    update notifications
    set tries = tries + 1,
      next_try_at = clock_timestamp() + make_interval(secs => ${leaseSeconds})
    where notification_id in (
      select notification_id
      from notifications
      where closed_at is null
        and next_try_at <= clock_timestamp()
        and event = any(${[...events]}::text[])
        and occurred_at > clock_timestamp() - make_interval(secs => ${longestAgeSeconds})
      order by notification_id
      limit ${limit}
      for update skip locked)
    returning notification_id::text as "notificationId", event, run_id as "runId", facts,
      occurred_at as "occurredAt", told as delivered, tries
  `.execute(warehouse.database);
  return taken.rows.sort((one, other) => Number(one.notificationId) - Number(other.notificationId));
}

/**
 * Records a try. If a channel failed, the next try follows after a pause that doubles, ten tries in all.
 *
 * @param delivered channels that have received the event
 * @param failure reason of the failed channels; undefined: none failed
 * @returns true if the event is abandoned
 */
export async function recordTry(
  warehouse: Warehouse,
  { notificationId, tries }: Notification,
  delivered: readonly string[],
  failure: string | undefined,
): Promise<boolean> {
  const isAbandoned = failure !== undefined && tries >= mostTries;
  const pause = Math.min(shortestPauseSeconds * 2 ** (tries - 1), longestPauseSeconds);
  await sql`
    update notifications
    set told = ${[...delivered]}::text[],
      failure = ${failure ?? null},
      next_try_at = clock_timestamp() + make_interval(secs => ${pause}),
      closed_at = case when ${failure === undefined || isAbandoned} then clock_timestamp() end
    where notification_id = ${notificationId}
  `.execute(warehouse.database);
  return isAbandoned;
}

/** The notification as an object for JSON. */
export async function readMessage(
  warehouse: Warehouse,
  { notificationId, event, runId, facts, occurredAt }: Notification,
): Promise<RunMessage | BudgetMessage> {
  const occurrence = { event, event_id: notificationId, occurred_at: occurredAt.toISOString() };
  if (runId === null)
    return { ...occurrence, ...(facts as unknown as Omit<BudgetMessage, keyof Occurrence>) };
  const pauseReason = facts as unknown as StatusReason | null;
  return {
    ...occurrence,
    figures_at: new Date().toISOString(),
    ...(await readRunFacts(warehouse, runId)),
    status: event,
    reason: pauseReason?.reason ?? null,
    next: pauseReason?.next ?? null,
  };
}
