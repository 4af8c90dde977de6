import { sql, type Transaction } from 'kysely';
import type { Tables } from '../db/schema.ts';
import type { DeliveryKind, LateKind } from '../domain/late-results/delivery-kinds.ts';
import type { GivenLateResult } from '../people/log/late-observations.ts';
import { factsOfLateResult, keyOfId } from '../people/log/observation.ts';
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
 * that another id in it is of a person of the call. A body can name a person by both ids: results with another number
 * or address than before, or with another status of it, are those of the new id.
 */
export async function withoutEarlier<Given extends GivenLateResult>(
  transaction: Transaction<Tables>,
  logged: { readonly deliveryId: string; readonly service: string; readonly kind: DeliveryKind },
  given: readonly Given[],
): Promise<readonly Given[]> {
  const { deliveryId, service } = logged;
  const keys = given.map(({ recipient }) => keyOfId(recipient.personId));
  const { rows } = await sql<{ personKey: string; attemptId: string; facts: object }>`
    select person_key as "personKey", attempt_id as "attemptId", facts from observations
    where service = ${service} and person_key = any(${keys}::text[]) and delivery_id = ${deliveryId}
      and origin_observation_id is null
  `.execute(transaction);
  if (rows.length === 0) return given;
  const earlier = new Map<string, readonly string[]>();
  for (const { attemptId, personKey, facts } of rows) {
    const recipient = `${attemptId} ${personKey}`;
    earlier.set(recipient, [...(earlier.get(recipient) ?? []), ...valuesOf(facts)]);
  }
  return given.filter(({ recipient: { attemptId, personId }, person }) => {
    const before = earlier.get(`${attemptId} ${keyOfId(personId)}`);
    const { facts } = factsOfLateResult(personId, logged.kind, person);
    return before === undefined || valuesOf(facts).some((value) => !before.includes(value));
  });
}

/** The numbers and addresses of a late result, each with what the result says about it. */
function valuesOf(facts: object): readonly string[] {
  const { phones = [], emails = [] } = facts as {
    readonly phones?: readonly Readonly<Record<string, unknown>>[];
    readonly emails?: readonly Readonly<Record<string, unknown>>[];
  };
  const textOf = (value: Readonly<Record<string, unknown>>): string =>
    JSON.stringify(membersOfValue.map((member) => value[member] ?? null));
  return [...phones, ...emails].map(textOf);
}

/** Not the place in the list, nor the ranks, which follow from the other members. */
const membersOfValue = [
  'number',
  'type',
  'status',
  'dnc_status',
  'confidence',
  'email',
  'email_status',
] as const;
