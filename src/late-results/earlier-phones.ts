import { sql, type Transaction } from 'kysely';
import { assignDelivered } from '../domain/late-results/late-assignment.ts';
import { recordLateResults } from '../people/late-observations.ts';
import type { Tables } from '../db/schema.ts';
import { lockAttempt, readContacts } from './awaiting-call.ts';
import { contentOf } from './delivery-content.ts';
import { givenResults } from './given-results.ts';
import { suppressedOfDelivery } from './suppressed-of-delivery.ts';

/**
 * Locks earlier calls for some people until the transaction ends. A delivery of an earlier call is applied either
 * before, and this transaction reads it, or after, and it finds the contacts of this transaction.
 *
 * @returns ids of the calls
 */
export async function lockEarlierCalls(
  transaction: Transaction<Tables>,
  attemptId: string,
  personIds: readonly string[],
): Promise<string[]> {
  const calls = await sql<{ attemptId: string }>`
    select attempt_id as "attemptId" from attempts
    where attempt_id in (select attempt_id from attempt_people where person_id = any(${personIds}::text[]))
      and attempt_id <> ${attemptId} and not phones_with_earlier
    order by attempt_id for share
  `.execute(transaction);
  return calls.rows.map((call) => call.attemptId);
}

/**
 * Gives contacts of a call with a skipped phone request the phones that earlier calls have received. Later phones reach
 * them with the delivery of the earlier call.
 *
 * @param earlier ids of locked calls
 */
export async function giveEarlierPhones(
  transaction: Transaction<Tables>,
  attemptId: string,
  earlier: readonly string[],
): Promise<void> {
  if (earlier.length === 0) return;
  const deliveries = await sql<{ deliveryId: string; body: Buffer; contentEncoding: string | null }>`
    select delivery_id as "deliveryId", body, content_encoding as "contentEncoding" from webhook_deliveries
    where attempt_id = any(${earlier}::text[]) and status = 'applied' and subject like 'phones:%' and body is not null
    order by received_at, delivery_id
  `.execute(transaction);
  const attempt = await lockAttempt(transaction, attemptId);
  const contacts = await readContacts(transaction, attemptId, []);
  for (const delivery of deliveries.rows) {
    const content = await contentOf(delivery);
    if (!content) continue;
    const assigned = assignDelivered(contacts, content.people, 'phones', attempt.foundIds);
    const suppressed = await suppressedOfDelivery(transaction, attempt, content.people, contacts, assigned);
    const given = givenResults(content.people, contacts, assigned, suppressed, () => ['phone']);
    await recordLateResults(
      transaction,
      { deliveryId: delivery.deliveryId, kind: 'phones', service: attempt.options.service },
      given,
    );
  }
}
