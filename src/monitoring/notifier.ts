import type { NotifiedEvent } from '../domain/runs/notified-event.ts';
import type { Warehouse } from '../db/database.ts';
import { claimNotification, readMessage, recordTry, type Notification } from './notifications.ts';
import { withoutPersonalData } from '../domain/text/without-personal-data.ts';
import type { Logger } from '../telemetry/log.ts';
import type { Channel } from './notification-channels.ts';

export interface NotifierSettings {
  readonly warehouse: Warehouse;
  readonly channels: readonly Channel[];
  readonly events: readonly NotifiedEvent[];
  readonly log: Logger;
}

const everyMilliseconds = 5_000;
/**
 * Maximum wait at the end of a command for the delivery of its last events; other processes deliver the rest.
 */
const closeMilliseconds = 15_000;

/**
 * Delivers events of runs and budgets. Triggers of the database record an event together with its change, and
 * any process delivers it, so that a killed process loses no event. Each event is delivered at least once,
 * with at most ten tries for a failing channel.
 *
 * Only the end of a command waits for deliveries, and a failed delivery never fails a run.
 */
export class Notifier {
  readonly #settings: NotifierSettings;
  readonly #ending = new AbortController();
  #timer: NodeJS.Timeout | undefined;
  #sending: Promise<void> = Promise.resolve();
  #closed = false;

  constructor(settings: NotifierSettings) {
    this.#settings = settings;
  }

  start(): void {
    this.#sending = this.#sendAndWait();
  }

  /** Delivers the pending events and stops. */
  async close(): Promise<void> {
    this.#closed = true;
    clearTimeout(this.#timer);
    const deadline = setTimeout(() => this.#ending.abort(), closeMilliseconds);
    await this.#sending;
    await this.sendDue();
    clearTimeout(deadline);
  }

  async #sendAndWait(): Promise<void> {
    await this.sendDue();
    if (!this.#closed) this.#timer = setTimeout(() => this.start(), everyMilliseconds);
  }

  async sendDue(): Promise<void> {
    const { warehouse, events, log } = this.#settings;
    try {
      while (!this.#ending.signal.aborted) {
        const due = await claimNotification(warehouse, events);
        if (due === undefined) return;
        await this.#send(due);
      }
    } catch (error) {
      // Without the database the events stay pending.
      log.debug({ err: error }, 'cannot read the notifications');
    }
  }

  async #send(notification: Notification): Promise<void> {
    const { warehouse, channels, log } = this.#settings;
    const message = await readMessage(warehouse, notification);
    // Only names of files and reasons are free text.
    const body = JSON.stringify(message, (_, value: unknown) =>
      typeof value === 'string' ? withoutPersonalData(value) : value,
    );
    const delivered = new Set(notification.delivered);
    const failures: string[] = [];
    const left = channels.filter(({ name }) => !delivered.has(name));
    await Promise.all(
      left.map(async (channel) => {
        try {
          await channel.send(body, this.#ending.signal);
          delivered.add(channel.name);
        } catch (error) {
          failures.push(`${channel.name}: ${(error as Error).message}`);
        }
      }),
    );
    const failure = failures.length === 0 ? undefined : failures.join('; ');
    const abandoned = await recordTry(warehouse, notification, [...delivered], failure);
    const { runId, event, tries } = notification;
    const about = { ...(runId !== null && { runId }), event, tries };
    if (failure === undefined) log.info(about, 'a notification was delivered');
    else if (abandoned) log.error({ ...about, failure }, 'a notification is abandoned');
    else log.warn({ ...about, failure }, 'a notification was not delivered');
  }
}
