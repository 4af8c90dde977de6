import { sql } from 'kysely';
import type { RunFacts, PauseReason } from '../contract.ts';
import type { NotifiedEvent } from '../domain/runs/notified-event.ts';
import type { Warehouse } from '../db/database.ts';
import { readRunFacts } from '../runs/run-facts.ts';

/** An event that is not delivered yet. */
export interface Notification {
  readonly notificationId: string;
  readonly event: NotifiedEvent;
  /** Null: it is of a budget. */
  readonly runId: string | null;
  readonly facts: Readonly<Record<string, unknown>> | null;
  readonly occurredAt: Date;
  /** Channels that have taken it. */
  readonly told: readonly string[];
  /** This one included. */
  readonly tries: number;
}

/** Fields of every notification. */
interface Occurrence {
  readonly event: NotifiedEvent;
  /** The same for each try: receivers that must not act twice compare it. */
  readonly event_id: string;
  /** ISO 8601. */
  readonly occurred_at: string;
}

/** The object of `--json` when the notification is sent, with status and reason of the event. */
export type RunNews = Occurrence &
  RunFacts & {
    /** ISO 8601: moment of rows, outcomes, calls and credits. A late notification has later figures. */
    readonly figures_at: string;
  };
/** Of a budget: which threshold it has crossed. Credits are decimals as text. */
export type BudgetNews = Occurrence & {
  readonly budget: string;
  readonly percent: number;
  readonly limit: string;
  readonly used: string;
};

/** Older events are not notified: not after a long outage, nor when notifications are first turned on. */
const toldWithinSeconds = 86_400;
/** An event whose process dies is sent again after this time; longer than all channels take. */
const leaseSeconds = 60;
const mostTries = 10;
const shortestPauseSeconds = 10;
const longestPauseSeconds = 1_800;

/** Takes the events that are due, oldest first; other processes skip them meanwhile. */
export async function takeNotifications(
  warehouse: Warehouse,
  events: readonly NotifiedEvent[],
  limit: number,
): Promise<Notification[]> {
  const taken = await sql<Notification>`
    update notifications set tries = tries + 1, next_try_at = clock_timestamp() + make_interval(secs => ${leaseSeconds})
    where notification_id in (
      select notification_id from notifications
      where closed_at is null and next_try_at <= clock_timestamp() and event = any(${[...events]}::text[])
        and occurred_at > clock_timestamp() - make_interval(secs => ${toldWithinSeconds})
      order by notification_id limit ${limit} for update skip locked)
    returning notification_id::text as "notificationId", event, run_id as "runId", facts, occurred_at as "occurredAt", told, tries
  `.execute(warehouse.database);
  return taken.rows.sort((one, other) => Number(one.notificationId) - Number(other.notificationId));
}

/**
 * Records who has taken a notification. Where a channel has not, it is tried again after a pause that doubles; ten
 * times in all.
 *
 * @param failure why, where not all of them have
 * @returns true if the event is abandoned
 */
export async function recordTold(
  warehouse: Warehouse,
  { notificationId, tries }: Notification,
  told: readonly string[],
  failure: string | undefined,
): Promise<boolean> {
  const givenUp = failure !== undefined && tries >= mostTries;
  const pause = Math.min(shortestPauseSeconds * 2 ** (tries - 1), longestPauseSeconds);
  await sql`
    update notifications set told = ${[...told]}::text[], failure = ${failure ?? null},
      next_try_at = clock_timestamp() + make_interval(secs => ${pause}),
      closed_at = case when ${failure === undefined || givenUp} then clock_timestamp() end
    where notification_id = ${notificationId}
  `.execute(warehouse.database);
  return givenUp;
}

/** The notification as an object for JSON. */
export async function readNews(
  warehouse: Warehouse,
  { notificationId, event, runId, facts, occurredAt }: Notification,
): Promise<RunNews | BudgetNews> {
  const occurrence = { event, event_id: notificationId, occurred_at: occurredAt.toISOString() };
  if (runId === null) return { ...occurrence, ...(facts as unknown as Omit<BudgetNews, keyof Occurrence>) };
  const pauseReason = facts as unknown as PauseReason | null;
  return {
    ...occurrence,
    figures_at: new Date().toISOString(),
    ...(await readRunFacts(warehouse, runId)),
    status: event,
    reason: pauseReason?.reason ?? null,
    next: pauseReason?.next ?? null,
  };
}
