import type { Generated } from 'kysely';
import type { NotifiedEvent } from '../../domain/runs/notified-event.ts';
import type { Timestamp, GeneratedTimestamp, Json } from './column-types.ts';

/**
 * Notifications of runs that changed their status, times of schedules that failed without a run, and budgets that
 * crossed a threshold. Triggers write those of runs and budgets.
 */
export interface NotificationsTable {
  notification_id: Generated<string>;
  event: NotifiedEvent;
  run_id: string | null;
  /** Of a run, its pause reason; of a schedule, its time and the reason; of a budget, the threshold and the credits. */
  facts: Json<Record<string, unknown>> | null;
  occurred_at: GeneratedTimestamp;
  /** Channels that have accepted the notification: `url`, `command`. */
  told: Generated<string[]>;
  tries: Generated<number>;
  next_try_at: GeneratedTimestamp;
  /** Why the last try failed; null: it did not fail. */
  failure: string | null;
  /** When all channels accepted the notification, or the worker stopped trying. */
  closed_at: Timestamp | null;
}

export interface NotificationsTables {
  notifications: NotificationsTable;
}
