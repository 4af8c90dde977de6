import type { Generated } from 'kysely';
import type { NotifiedEvent } from '../../domain/runs/notified-event.ts';
import type { Timestamp, GeneratedTimestamp, Json } from './column-types.ts';

/**
 * Notifications to send: a run changed its status, or a budget crossed a threshold. Triggers fill the table.
 */
export interface NotificationsTable {
  notification_id: Generated<string>;
  event: NotifiedEvent;
  run_id: string | null;
  /** Of a run, why it stopped; of a budget, which threshold was crossed. */
  facts: Json<Record<string, unknown>> | null;
  occurred_at: GeneratedTimestamp;
  /** Channels that have taken it: `url`, `command`. */
  told: Generated<string[]>;
  tries: Generated<number>;
  next_try_at: GeneratedTimestamp;
  /** Why the last try failed; null where it did not. */
  failure: string | null;
  /** Delivered to every receiver, or abandoned. */
  closed_at: Timestamp | null;
}

export interface NotificationsTables {
  notifications: NotificationsTable;
}
