import { sql } from 'kysely';
import type { StatusReason } from '../contract/pause-reasons.ts';
import type { ScheduledRunInput, ScheduledRuns } from '../contract/run-input.ts';
import type { SchemaOutput } from '../contract/schema-fields.ts';
import type { Warehouse } from '../db/database.ts';
import { Problem } from '../domain/problem.ts';
import type { NotifiedEvent } from '../domain/runs/notified-event.ts';
import { formatCount } from '../domain/text/format.ts';
import { withoutPersonalData } from '../domain/text/without-personal-data.ts';
import { selectedContactCondition } from '../export/contact-choice.ts';
import type { notification as notificationSchema } from '../outputs/outputs.ts';
import { readRunFacts } from '../runs/read-run-facts.ts';
import type { Logger } from '../telemetry/log.ts';
import type { Channel } from './notification-channels.ts';

interface NotifierSettings {
  readonly warehouse: Warehouse;
  readonly channels: readonly Channel[];
  readonly events: readonly NotifiedEvent[];
  /** True if notifications of job changes name the person, the titles and the employers. */
  readonly withNames: boolean;
  readonly log: Logger;
}

const everyMilliseconds = 5_000;
/** How long a command that ends waits to deliver its last events. Other processes deliver the events that remain. */
const closeMilliseconds = 15_000;

/**
 * Delivers events of runs, budgets and people at least once, with at most ten tries each. Database triggers record an
 * event together with its change, and any process delivers it. A failed delivery never fails a run.
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

  /** Sends due events now, and then every five seconds. */
  start(): void {
    this.#sending = this.#sendAndWait();
  }

  /** Sends the last due events, for at most fifteen seconds. */
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

  /** Sends all events that are due now. */
  async sendDue(): Promise<void> {
    const { warehouse, events, log } = this.#settings;
    try {
      while (!this.#ending.signal.aborted) {
        const due = await claimNotification(warehouse, events);
        if (due === undefined) return;
        await this.#send(due);
      }
    } catch (error) {
      // The database is unreachable, so the events stay pending.
      log.debug({ err: error }, 'cannot read the notifications');
    }
  }

  /** Sends an event to the channels that do not have it yet, and records the try. */
  async #send(notification: Notification): Promise<void> {
    const { warehouse, channels, withNames, log } = this.#settings;
    const message = await readMessage(warehouse, notification, withNames);
    if (message === undefined) return recordTry(warehouse, notification, [], undefined, true);
    // Only file names and reasons are free text. The id of a contact stays as it is, even if it is an e-mail.
    const body = JSON.stringify(message, (name, value: unknown) =>
      typeof value === 'string' && name !== 'contact_id' ? withoutPersonalData(value) : value,
    );
    const delivered = new Set(notification.delivered);
    const failures: string[] = [];
    const left = channels.filter(({ name }) => !delivered.has(name));
    await Promise.all(
      left.map(async (channel) => {
        await channel.send(body, this.#ending.signal).then(
          () => delivered.add(channel.name),
          (error: Error) => failures.push(`${channel.name}: ${error.message}`),
        );
      }),
    );
    const { runId, event, tries } = notification;
    const failure = failures.join('; ') || undefined;
    const about = { ...(runId !== null && { runId }), event, tries, failure };
    const isClosed = failures.length === 0 || tries >= maxTries;
    await recordTry(warehouse, notification, [...delivered], failure, isClosed);
    if (failures.length === 0) log.info(about, 'a notification was delivered');
    else if (isClosed) log.error(about, 'a notification is abandoned');
    else log.warn(about, 'a notification was not delivered');
  }
}

interface Notification {
  readonly notificationId: string;
  readonly event: NotifiedEvent;
  readonly runId: string | null;
  /** A pause reason, budget alarm, failed schedule or observation, as the trigger recorded it; null: run ended. */
  readonly facts: Readonly<Record<string, unknown>> | null;
  readonly occurredAt: Date;
  readonly delivered: readonly string[];
  readonly tries: number;
}

type Message = SchemaOutput<typeof notificationSchema>;

/** Maximum age of an event to deliver. Older events include those from before notifications were configured. */
const longestAgeSeconds = 86_400;
/** Time after which another process sends the event of a process that died. All channels together take less. */
const leaseSeconds = 60;
const maxTries = 10;
const shortestPauseSeconds = 10;
const longestPauseSeconds = 1_800;

/** Claims the oldest due event, job changes last; only one, because channels can take half a minute. */
async function claimNotification(
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
        -- No try is due before its event: an index finds the few due rows among all that nobody wanted.
        and next_try_at > clock_timestamp() - make_interval(secs => ${longestAgeSeconds})
      order by event = 'job_change', notification_id
      limit 1
      for update skip locked)
    returning notification_id::text as "notificationId", event, run_id as "runId", facts,
      occurred_at as "occurredAt", told as delivered, tries
  `.execute(warehouse.database);
  return rows[0];
}

/** Stores the channels that have the event, and the next try: the pause doubles from 10 seconds to half an hour. */
async function recordTry(
  warehouse: Warehouse,
  { notificationId, tries }: Notification,
  delivered: readonly string[],
  failure: string | undefined,
  isClosed: boolean,
): Promise<void> {
  const pause = Math.min(shortestPauseSeconds * 2 ** (tries - 1), longestPauseSeconds);
  await sql`
    update notifications
    set told = ${[...delivered]}::text[],
      failure = ${failure ?? null},
      next_try_at = clock_timestamp() + make_interval(secs => ${pause}),
      closed_at = case when ${isClosed} then clock_timestamp() end
    where notification_id = ${notificationId}
  `.execute(warehouse.database);
}

/** Makes the JSON object of a notification, for a run as `--json` prints it now; undefined: nothing to send. */
async function readMessage(
  warehouse: Warehouse,
  { notificationId, event, runId, facts, occurredAt }: Notification,
  withNames: boolean,
): Promise<Message | undefined> {
  const occurrence = { event_id: notificationId, occurred_at: occurredAt.toISOString() };
  if (event === 'job_change') {
    const change = await readJobChange(warehouse, Number(facts?.['observation_id']), withNames);
    return change && { event, ...occurrence, ...change };
  }
  if (runId === null || event === 'budget') return { event, ...occurrence, ...facts } as Message;
  const pauseReason = facts as unknown as StatusReason | null;
  return {
    event,
    ...occurrence,
    figures_at: new Date().toISOString(),
    ...(await readRunFacts(warehouse, runId)),
    status: event,
    // Without facts, the run has ended and needs a decision. Its own reason then names the decision.
    ...(pauseReason && { reason_type: pauseReason.type, reason: pauseReason.reason, next: pauseReason.next }),
  };
}

/** Reads a job change when it is sent; undefined if it was undone, or the person has no selected contact now. */
async function readJobChange(warehouse: Warehouse, observationId: number, withNames: boolean) {
  const { rows } = await sql<JobChange>`
    select j.run_id,
      json_agg(json_build_object('source', c.source, 'contact_id', c.contact_id) order by c.source, c.contact_id)
        as contacts,
      nullif(concat_ws(' ', min(c.first_name), min(c.last_name)), '') as name,
      j.from_title, j.from_organization, j.to_title, j.to_organization
    from observation_log o
    cross join lateral (
      select * from job_changes
      where service = o.service and person_key = o.person_key and observation_id = o.observation_id
      offset 0
    ) j
    join enriched_contacts c on c.service = o.service and c.person_key = o.person_key
    where o.observation_id = ${observationId}
      and not exists (select from runs where run_id = j.run_id and undone_at is not null)
      and ${sql.raw(`(${selectedContactCondition({})})`)}
    group by j.run_id, j.from_title, j.from_organization, j.to_title, j.to_organization
  `.execute(warehouse.database);
  const [change] = rows;
  if (change === undefined || withNames) return change;
  return { run_id: change.run_id, contacts: change.contacts };
}

type JobChange = Omit<Extract<Message, { event: 'job_change' }>, 'event' | 'event_id' | 'occurred_at'>;

type ScheduledTime = Pick<ScheduledRunInput, 'schedule'> & { readonly asOf: string };

/** Notifies of a scheduled time that fails before a run begins. Later failures are notified by the run's status. */
export async function notifyOnFailure(
  warehouse: Warehouse,
  time: ScheduledTime,
  begin: () => Promise<ScheduledRuns>,
): Promise<ScheduledRuns> {
  const again = `enrich schedule trigger ${time.schedule} begins a run now`;
  try {
    const begun = await begin();
    const [first] = begun.refused;
    if (first) {
      const files = formatCount(begun.refused.length, 'file');
      const reason = `${files} cannot be read, such as ${first.file}: ${first.reason}`;
      const names = `enrich schedule show ${time.schedule} names the files`;
      await recordFailure(warehouse, time, reason, `${names}; the next time reads them again; ${again}`);
    }
    return begun;
  } catch (error) {
    // Temporal retries the activity after all other errors.
    if (error instanceof Problem && error.type !== 'database.unreachable')
      await recordFailure(warehouse, time, error.sentence, `${error.next}; then: ${again}`);
    throw error;
  }
}

/** Records a failure once for each scheduled time, although Temporal may repeat the activity. */
async function recordFailure(
  warehouse: Warehouse,
  { schedule, asOf }: ScheduledTime,
  reason: string,
  next: string,
): Promise<void> {
  const facts = { schedule, scheduled_at: asOf, reason: withoutPersonalData(reason), next };
  await sql`
    insert into notifications (event, facts)
    select 'failed', ${JSON.stringify(facts)}::jsonb
    where not exists (
      select
      from notifications
      where run_id is null and event = 'failed'
        and facts ->> 'schedule' = ${schedule} and facts ->> 'scheduled_at' = ${asOf})
  `.execute(warehouse.database);
}
