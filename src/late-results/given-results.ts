import { isDeepStrictEqual } from 'node:util';
import { sql, type Transaction } from 'kysely';
import type { Tables } from '../db/schema.ts';
import type { DeliveryKind, LateKind } from '../domain/late-results/delivery-kinds.ts';
import type { GivenLateResult } from '../people/log/late-observations.ts';
import { factsOfLateResult, keyOfId, type ObservedFacts } from '../people/log/observation.ts';
import type { LateResult } from '../service/answers/late-result.ts';
import type { NamedRecipient } from './awaiting-call.ts';
import type { SuppressedPeople } from './suppressed-of-delivery.ts';

/**
 * The results of a body that each person of the call gets: from the people of the body who are assigned to this person,
 * without suppressed people. Pure.
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
 * Leaves out the results that the same delivery has given before. A delivery is applied again when an answer has shown
 * that one of its ids is of a person of the call (`reopen_linked_deliveries`).
 *
 * Example: a body names one person by two ids, P1 with a first number and P9 with a second. The first time, only P1 was
 * known, and got the first number. Now both are the person: the second number is new, the first is left out.
 */
export async function withoutGivenBefore<Given extends GivenLateResult>(
  transaction: Transaction<Tables>,
  logged: { readonly deliveryId: string; readonly service: string; readonly kind: DeliveryKind },
  given: readonly Given[],
): Promise<readonly Given[]> {
  const { deliveryId, service } = logged;
  const keys = given.map(({ recipient }) => keyOfId(recipient.personId));
  const { rows } = await sql<{ personKey: string; attemptId: string; facts: ObservedFacts['facts'] }>`
    select person_key as "personKey", attempt_id as "attemptId", facts from observations
    where service = ${service} and person_key = any(${keys}::text[]) and delivery_id = ${deliveryId}
      and origin_observation_id is null
  `.execute(transaction);
  return given.filter(({ recipient: { attemptId, personId }, person }) => {
    const { facts } = factsOfLateResult(personId, logged.kind, person);
    return !rows.some(
      (row) =>
        row.attemptId === attemptId &&
        row.personKey === keyOfId(personId) &&
        isDeepStrictEqual(row.facts, asStored(facts)),
    );
  });
}

/** As the database returns it: without members that are undefined. */
function asStored(facts: ObservedFacts['facts']): unknown {
  return JSON.parse(JSON.stringify(facts));
}
