import { sql, type Transaction } from 'kysely';
import type { Tables } from '../db/schema.ts';
import type { DeliveryKind } from '../domain/late-results/delivery-kinds.ts';
import type { DeliveredPerson } from '../service/answers/late-result.ts';
import { queuePeople } from '../people/digest-queue.ts';
import { factsOfLateResult, keyOfId } from '../people/observation.ts';
import { writeObservations, type NewObservation } from '../people/people-tables.ts';
import type { LockedCall } from './expected-results.ts';

/** A person of a delivery, and the id by which an answer names this person. */
export interface GivenPerson {
  readonly personId: string;
  readonly person: DeliveredPerson;
}

/**
 * Appends the results of a delivery: one observation a person, or several if it names the person with different
 * results. People without a row were paid for as well: a contact that is later shown to be such a person has these
 * results. A delivery that is applied again adds nobody twice.
 *
 * @returns the observations that were added
 */
export async function recordLateResults(
  transaction: Transaction<Tables>,
  call: LockedCall,
  delivery: { readonly deliveryId: string; readonly kind: DeliveryKind },
  given: readonly GivenPerson[],
): Promise<readonly NewObservation[]> {
  const { deliveryId, kind } = delivery;
  const { service } = call.options;
  const observations = new Map<string, NewObservation>();
  for (const { personId, person } of given) {
    const facts = factsOfLateResult(personId, kind, person);
    observations.set(JSON.stringify(facts), {
      ...facts,
      service,
      personKey: keyOfId(personId),
      kind,
      askedAt: call.admittedAt,
      runId: call.runId,
      attemptId: call.attemptId,
      deliveryId,
    });
  }
  const { rows } = await sql<{ personKey: string }>`
    select person_key as "personKey"
    from observation_log
    where service = ${service} and delivery_id = ${deliveryId}
      and person_key = any(${[...observations.values()].map(({ personKey }) => personKey)}::text[])
  `.execute(transaction);
  const known = new Set(rows.map(({ personKey }) => personKey));
  const added = [...observations.values()].filter(({ personKey }) => !known.has(personKey));
  await writeObservations(transaction, added);
  await queuePeople(transaction, added);
  return added;
}
