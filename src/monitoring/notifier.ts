import type { NotifiedEvent } from '../domain/runs/notified-event.ts';
import type { Warehouse } from '../db/database.ts';
import { readNews, recordTold, takeNotifications, type Notification } from './notifications.ts';
import { withoutPersonalData, type Logger } from '../telemetry/log.ts';
import type { Channel } from './notification-channels.ts';

export interface NotifierSettings {
  readonly warehouse: Warehouse;
  readonly channels: readonly Channel[];
  /** Events to deliver. */
  readonly events: readonly NotifiedEvent[];
  readonly log: Logger;
}

const everyMilliseconds = 5_000;
const notificationsAtOnce = 10;
/** How long a command that ends waits until its last news is taken; what is not is left for the next process. */
const closeMilliseconds = 15_000;

/**
 * Tells what becomes of runs and budgets. The database itself records it, with the change that it is about; any number
 * of processes take it from there, so that one which is killed loses nothing. Each event is delivered at least once,
 * with at most ten times to a channel that does not take it.
 *
 * Nothing waits for it but the end of a command, and nothing fails by it.
 */
export class Notifier {
  readonly #settings: NotifierSettings;
  readonly #ending = new AbortController();
  #timer: NodeJS.Timeout | undefined;
  #telling: Promise<void> = Promise.resolve();
  #closed = false;

  constructor(settings: NotifierSettings) {
    this.#settings = settings;
  }

  start(): void {
    this.#telling = this.#tellAndWait();
  }

  /** Tells what has happened until now, and ends. */
  async close(): Promise<void> {
    this.#closed = true;
    clearTimeout(this.#timer);
    const deadline = setTimeout(() => this.#ending.abort(), closeMilliseconds);
    await this.#telling;
    await this.tellDue();
    clearTimeout(deadline);
  }

  async #tellAndWait(): Promise<void> {
    await this.tellDue();
    if (!this.#closed) this.#timer = setTimeout(() => this.start(), everyMilliseconds);
  }

  /** Tells everything that is due now. */
  async tellDue(): Promise<void> {
    const { warehouse, events, log } = this.#settings;
    try {
      for (;;) {
        if (this.#ending.signal.aborted) return;
        const due = await takeNotifications(warehouse, events, notificationsAtOnce);
        for (const notification of due) await this.#tell(notification);
        if (due.length < notificationsAtOnce) return;
      }
    } catch (error) {
      // The database is away: they stay where they are.
      log.debug({ err: error }, 'notifications could not be looked for');
    }
  }

  async #tell(notification: Notification): Promise<void> {
    const { warehouse, channels, log } = this.#settings;
    const news = await readNews(warehouse, notification);
    // Names of files and reasons are the only free text.
    const body = JSON.stringify(news, (_, value: unknown) =>
      typeof value === 'string' ? withoutPersonalData(value) : value,
    );
    const told = new Set(notification.told);
    const failures: string[] = [];
    const left = channels.filter(({ name }) => !told.has(name));
    await Promise.all(
      left.map(async (channel) => {
        try {
          await channel.tell(body, this.#ending.signal);
          told.add(channel.name);
        } catch (error) {
          failures.push(`${channel.name}: ${(error as Error).message}`);
        }
      }),
    );
    const failure = failures.length === 0 ? undefined : failures.join('; ');
    const abandoned = await recordTold(warehouse, notification, [...told], failure);
    const { runId, event, tries } = notification;
    const about = { ...(runId !== null && { runId }), event, tries };
    if (failure === undefined) log.info(about, 'a notification was delivered');
    else if (abandoned) log.error({ ...about, failure }, 'a notification is abandoned');
    else log.warn({ ...about, failure }, 'a notification was not delivered');
  }
}
