import { sql, type Transaction } from 'kysely';
import type { Tables } from '../db/schema.ts';
import type { LateKind } from '../domain/late-results/delivery-kinds.ts';
import type { GivenLateResult } from '../people/log/late-observations.ts';
import { keyOfId } from '../people/log/observation.ts';
import type { LateResult } from '../service/answers/late-result.ts';
import type { NamedRecipient } from './awaiting-call.ts';
import type { SuppressedPeople } from './suppressed-of-delivery.ts';

/**
 * What the people of a call are given of a body: the people that are assigned to them, without suppressed people. Pure.
 *
 * @param assigned for each person of the body the indexes of their recipients
 * @param kindsOf the kinds of results that the body has for a person, by the person's index
 */
export function givenResults(
  people: LateResult['people'],
  recipients: readonly NamedRecipient[],
  assigned: readonly (readonly number[])[],
  suppressed: SuppressedPeople,
  kindsOf: (person: number) => readonly LateKind[],
): (GivenLateResult & { readonly recipient: NamedRecipient })[] {
  return people.flatMap((person, index) =>
    suppressed.people.has(index)
      ? []
      : assigned[index]!.map((recipient) => ({
          recipient: recipients[recipient]!,
          person,
          kinds: kindsOf(index),
        })),
  );
}

/**
 * The results that a delivery has not brought before. A delivery is applied again if an answer has shown since then
 * that another id in it is of a person of the call.
 */
export async function withoutEarlier<Given extends GivenLateResult>(
  transaction: Transaction<Tables>,
  { deliveryId, service }: { readonly deliveryId: string; readonly service: string },
  given: readonly Given[],
): Promise<readonly Given[]> {
  const keys = given.map(({ recipient }) => keyOfId(recipient.personId));
  const { rows } = await sql<{ personKey: string; attemptId: string }>`
    select person_key as "personKey", attempt_id as "attemptId" from observations
    where service = ${service} and person_key = any(${keys}::text[]) and delivery_id = ${deliveryId}
  `.execute(transaction);
  const earlier = new Set(rows.map(({ personKey, attemptId }) => `${attemptId} ${personKey}`));
  return given.filter(
    ({ recipient: { attemptId, personId } }) => !earlier.has(`${attemptId} ${keyOfId(personId)}`),
  );
}
