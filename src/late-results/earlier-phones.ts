import { sql, type Transaction } from 'kysely';
import { anyOf } from '../db/one-of.ts';
import { creditedStatuses } from '../domain/late-results/delivery-kinds.ts';
import { assignDelivered } from '../domain/late-results/late-assignment.ts';
import { recordLateLookups, type LateLookups } from '../people/known/lookup-history.ts';
import { recordLateResults } from '../people/log/append-to-log.ts';
import { keyOfId } from '../people/log/observation.ts';
import type { Tables } from '../db/schema.ts';
import { lockAttempt, readRecipients } from './awaiting-call.ts';
import { givenResults } from './delivered-bodies.ts';
import { suppressedOfDelivery } from './suppressed-of-delivery.ts';

/**
 * Locks earlier calls whose answers have some people, with or without a row, until the transaction ends. A delivery of
 * an earlier call is applied either before, and this transaction reads it, or after, and it finds the contacts of this
 * transaction.
 *
 * @returns ids of the calls
 */
export async function lockEarlierCalls(
  transaction: Transaction<Tables>,
  { attemptId, service }: { readonly attemptId: string; readonly service: string },
  personIds: readonly string[],
): Promise<string[]> {
  const calls = await sql<{ attemptId: string }>`
    select attempt_id as "attemptId" from attempts
    where attempt_id in (select attempt_id from observation_log
        where service = ${service} and person_key = any(${personIds.map(keyOfId)}::text[]) and kind = 'answer')
      and attempt_id <> ${attemptId} and not phones_with_earlier
    order by attempt_id for share
  `.execute(transaction);
  return calls.rows.map((call) => call.attemptId);
}

/** A person of a delivery, with the phones as the log of observations has them. */
interface LoggedPerson {
  readonly id: string;
  readonly phones: readonly {
    readonly number: string;
    readonly raw_number: string | null;
    readonly status: string | null;
    readonly confidence: string | null;
    readonly position: number;
    readonly type?: string;
    readonly dnc_status?: string;
  }[];
}

/**
 * Gives contacts of a call with a skipped phone request the phones that earlier calls have received, as the log has
 * them. Later phones reach them with the delivery of the earlier call. Entries of other calls with the same delivery
 * count as well: retention removes the first entry once such an entry has replaced it.
 *
 * @param earlier ids of locked calls
 */
export async function giveEarlierPhones(
  transaction: Transaction<Tables>,
  attemptId: string,
  earlier: readonly string[],
): Promise<void> {
  if (earlier.length === 0) return;
  const attempt = await lockAttempt(transaction, attemptId);
  const { service } = attempt.options;
  const deliveries = await sql<{ deliveryId: string; logged: readonly LoggedPerson[] }>`
    select d.delivery_id as "deliveryId", array(
        select jsonb_build_object('id', o.person_id, 'phones', o.facts -> 'phones') from observation_log o
        where o.person_key = any(${attempt.foundIds.map(keyOfId)}::text[])
          and o.service = ${service} and o.kind = 'phones'
          and o.delivery_id = d.delivery_id
          and o.person_id is not null
        group by 1
        order by min(o.observation_id)
      ) as logged
    from webhook_deliveries d
    where d.attempt_id = any(${earlier}::text[]) and d.status in (${anyOf(creditedStatuses)})
      and d.subject like 'phones:%'
    order by d.received_at, d.delivery_id
  `.execute(transaction);
  const recipients = await readRecipients(transaction, attempt, []);
  const lookups: LateLookups[] = [];
  for (const { deliveryId, logged } of deliveries.rows) {
    const people = logged.map(deliveredOf);
    const assigned = assignDelivered(recipients, people, 'phones', attempt.foundIds);
    const suppressed = await suppressedOfDelivery(transaction, attempt, people, recipients, assigned);
    const given = givenResults(people, recipients, assigned, suppressed, () => ['phone']);
    lookups.push(await recordLateResults(transaction, { deliveryId, kind: 'phones', service }, given));
  }
  await recordLateLookups(transaction, service, {
    people: lookups.flatMap(({ people }) => people),
    learned: lookups.flatMap(({ learned }) => learned),
  });
}

function deliveredOf({ id, phones }: LoggedPerson) {
  return {
    id,
    phones: phones.map((phone) => ({
      rawNumber: phone.raw_number ?? undefined,
      sanitizedNumber: phone.number,
      type: phone.type,
      status: phone.status ?? undefined,
      dncStatus: phone.dnc_status,
      confidence: phone.confidence ?? undefined,
      position: phone.position,
    })),
    emails: [],
    addresses: [],
    fields: ['phone_numbers'],
    isPending: false,
  };
}
