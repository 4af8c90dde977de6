import { sql, type Transaction } from 'kysely';
import type { Tables } from '../db/schema.ts';
import type { DeliveryKind, LateKind } from '../domain/late-results/delivery-kinds.ts';
import type { GivenLateResult } from '../people/log/late-observations.ts';
import { factsOfLateResult, keyOfId } from '../people/log/observation.ts';
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
  const { rows } = await sql<{ personKey: string; attemptId: string; facts: LateFacts }>`
    select person_key as "personKey", attempt_id as "attemptId", facts from observations
    where service = ${service} and person_key = any(${keys}::text[]) and delivery_id = ${deliveryId}
      and origin_observation_id is null
  `.execute(transaction);
  return given.filter(({ recipient: { attemptId, personId }, person }) => {
    const before = rows.filter((row) => row.attemptId === attemptId && row.personKey === keyOfId(personId));
    const valuesBefore = new Set(before.flatMap(({ facts }) => valuesOf(facts)));
    const { facts } = factsOfLateResult(personId, logged.kind, person);
    return before.length === 0 || valuesOf(facts).some((value) => !valuesBefore.has(value));
  });
}

/** The values of a late result in the facts of an observation. */
interface LateFacts {
  readonly phones?: readonly Readonly<Record<string, unknown>>[];
  readonly emails?: readonly Readonly<Record<string, unknown>>[];
}

/** The numbers and addresses of a late result, each with what the result says about it. */
function valuesOf({ phones = [], emails = [] }: LateFacts): string[] {
  return [...phones, ...emails].map((value) =>
    JSON.stringify(comparedMembers.map((member) => value[member] ?? null)),
  );
}

/** Without the place in the list and the ranks, which follow from these members. */
const comparedMembers = [
  'number',
  'type',
  'status',
  'dnc_status',
  'confidence',
  'email',
  'email_status',
] as const;
