import { sql } from 'kysely';
import type { StatusReason } from '../contract/pause-reasons.ts';
import type { NotifiedEvent } from '../domain/runs/notified-event.ts';
import type { Warehouse } from '../db/database.ts';
import type { Printed } from '../contract/schema-fields.ts';
import type {
  budgetNotification,
  runNotification,
  scheduleNotification,
} from '../outputs/notification-outputs.ts';
import { readRunFacts } from '../runs/read-run-facts.ts';

export interface Notification {
  readonly notificationId: string;
  readonly event: NotifiedEvent;
  /** Null: an event of a budget or a schedule. */
  readonly runId: string | null;
  readonly facts: Readonly<Record<string, unknown>> | null;
  readonly occurredAt: Date;
  /** Channels that have received the event. */
  readonly delivered: readonly string[];
  /** Number of tries, including this one. */
  readonly tries: number;
}

type RunMessage = Printed<typeof runNotification>;
type OtherMessage = Printed<typeof budgetNotification> | Printed<typeof scheduleNotification>;

/**
 * Older events are never delivered, such as those of a long outage or from before notifications were
 * configured.
 */
const longestAgeSeconds = 86_400;
/** If a process dies, another sends its event after this time, which is longer than all channels take. */
const leaseSeconds = 60;
const mostTries = 10;
const shortestPauseSeconds = 10;
const longestPauseSeconds = 1_800;

/**
 * Claims the oldest due event. Other processes skip a claimed event. A process claims one event at a time, because the
 * channels can take half a minute for each.
 *
 * @param events kinds of events to claim
 * @returns undefined if no event is due
 */
export async function claimNotification(
  warehouse: Warehouse,
  events: readonly NotifiedEvent[],
): Promise<Notification | undefined> {
  const { rows } = await sql<Notification>`
    update notifications
    set tries = tries + 1,
      next_try_at = clock_timestamp() + make_interval(secs => ${leaseSeconds})
    where notification_id = (
      select notification_id
      from notifications
      where closed_at is null
        and next_try_at <= clock_timestamp()
        and event = any(${[...events]}::text[])
        and occurred_at > clock_timestamp() - make_interval(secs => ${longestAgeSeconds})
      order by notification_id
      limit 1
      for update skip locked)
    returning notification_id::text as "notificationId", event, run_id as "runId", facts,
      occurred_at as "occurredAt", told as delivered, tries
  `.execute(warehouse.database);
  return rows[0];
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

/** The notification as an object for JSON: of a run, the object of `--json` at the time of sending. */
export async function readMessage(
  warehouse: Warehouse,
  { notificationId, event, runId, facts, occurredAt }: Notification,
): Promise<RunMessage | OtherMessage> {
  const occurrence = { event_id: notificationId, occurred_at: occurredAt.toISOString() };
  if (runId === null || event === 'budget') return { event, ...occurrence, ...facts } as OtherMessage;
  const pauseReason = facts as unknown as StatusReason | null;
  return {
    event,
    ...occurrence,
    figures_at: new Date().toISOString(),
    ...(await readRunFacts(warehouse, runId)),
    status: event,
    // Without facts the run has ended, and its reason is the decision that it needs.
    ...(pauseReason && { reason_type: pauseReason.type, reason: pauseReason.reason, next: pauseReason.next }),
  };
}
