import { sql, type Transaction } from 'kysely';
import { assignDelivered } from '../domain/late-results/late-assignment.ts';
import { anyOf } from '../db/one-of.ts';
import { creditedStatuses } from '../domain/late-results/delivery-status.ts';
import type { DeliveredPerson } from '../service/answers/late-result.ts';
import { recordLateLookups, type LateLookups } from '../people/known/lookup-history.ts';
import { recordLateResults } from '../people/log/late-observations.ts';
import { keyOfId } from '../people/log/observation.ts';
import type { Tables } from '../db/schema.ts';
import { lockAttempt, readRecipients } from './awaiting-call.ts';
import { contentOf } from './delivery-content.ts';
import { givenResults } from './given-results.ts';
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
    where attempt_id in (select attempt_id from observations
        where service = ${service} and person_key = any(${personIds.map(keyOfId)}::text[]) and kind = 'answer')
      and attempt_id <> ${attemptId} and not phones_with_earlier
    order by attempt_id for share
  `.execute(transaction);
  return calls.rows.map((call) => call.attemptId);
}

/** A person of a delivery without a body, with the phones as the log of observations has them. */
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
 * Gives contacts of a call with a skipped phone request the phones that earlier calls have received. Later phones reach
 * them with the delivery of the earlier call. If retention has removed the body of a delivery, the log has the phones.
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
  const deliveries = await sql<{
    deliveryId: string;
    body: Buffer | null;
    contentEncoding: string | null;
    foundIds: readonly string[];
    phones: readonly LoggedPerson[];
  }>`
    select d.delivery_id as "deliveryId", d.body, d.content_encoding as "contentEncoding", a.found_ids as "foundIds",
      array(
        select jsonb_build_object('id', o.person_id, 'phones', o.facts -> 'phones') from observations o
        where d.body is null and o.person_key = any(${attempt.foundIds.map(keyOfId)}::text[])
          and o.service = ${attempt.options.service} and o.kind = 'phones'
          and o.attempt_id = d.attempt_id and o.delivery_id = d.delivery_id
          and o.person_id is not null
        order by o.observation_id
      ) as phones
    from webhook_deliveries d join attempts a using (attempt_id)
    where d.attempt_id = any(${earlier}::text[]) and d.status in (${anyOf(creditedStatuses)})
      and d.subject like 'phones:%'
    order by d.received_at, d.delivery_id
  `.execute(transaction);
  const { service } = attempt.options;
  const recipients = await readRecipients(transaction, attempt, []);
  const lookups: LateLookups[] = [];
  for (const { body, phones, ...delivery } of deliveries.rows) {
    const delivered =
      body === null ? phones.map(deliveredOf) : ((await contentOf({ ...delivery, body }))?.people ?? []);
    // A body is believed only about the people of its own call.
    const people = delivered.filter(({ id }) => id !== undefined && delivery.foundIds.includes(id));
    const assigned = assignDelivered(recipients, people, 'phones', attempt.foundIds);
    const suppressed = await suppressedOfDelivery(transaction, attempt, people, recipients, assigned);
    const given = givenResults(people, recipients, assigned, suppressed, () => ['phone']);
    const logged = { deliveryId: delivery.deliveryId, kind: 'phones', service } as const;
    lookups.push(await recordLateResults(transaction, logged, given));
  }
  await recordLateLookups(transaction, service, {
    people: lookups.flatMap(({ people }) => people),
    learned: lookups.flatMap(({ learned }) => learned),
  });
}

function deliveredOf({ id, phones }: LoggedPerson): DeliveredPerson {
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
