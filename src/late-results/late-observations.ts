import type { Transaction } from 'kysely';
import type { Tables } from '../db/schema.ts';
import type { DeliveryKind, LateKind } from '../domain/late-results/delivery-kinds.ts';
import type { DeliveredPhone } from '../domain/identity/values/phone.ts';
import { queuePeople } from '../people/digest.ts';
import type { LateLookups } from '../people/lookup-history.ts';
import { factsOfLateResult, keyOfId } from '../people/observation.ts';
import { writeObservations, type NewObservation } from '../people/people-tables.ts';

/** A person of an answer whom a late result is for. */
export interface LateRecipient {
  readonly personId: string;
  readonly runId: string;
  /** Null: the answer gave the person to no row. */
  readonly rowNumber: number | null;
  readonly attemptId: string;
  /** When the service was asked, by the database's clock in full precision. */
  readonly askedAt: string;
  readonly emails: readonly string[];
}

/** A person of a delivery, assigned to a person of an answer. */
export interface GivenLateResult {
  readonly recipient: LateRecipient;
  readonly person: {
    readonly phones: readonly DeliveredPhone[];
    readonly emails: readonly { readonly email: string; readonly status: string | undefined }[];
  };
  /** The kinds of results in the body. */
  readonly kinds: readonly LateKind[];
}

/**
 * Appends the results of a delivery: one observation per person and call, or several if the body names the person with
 * different results. People without a row were paid for as well: a contact that is shown to be such a person later has
 * these results.
 *
 * @returns what to record in the lookup history, once for each transaction
 */
export async function recordLateResults(
  transaction: Transaction<Tables>,
  delivery: { readonly deliveryId: string; readonly kind: DeliveryKind; readonly service: string },
  given: readonly GivenLateResult[],
): Promise<LateLookups> {
  const observations = new Map<string, NewObservation>();
  for (const { recipient, person } of given) {
    const facts = factsOfLateResult(recipient.personId, delivery.kind, person);
    // Two rows may be one person, and a body may name a person several times, with the same results or with others.
    observations.set(`${recipient.attemptId} ${JSON.stringify(facts)}`, {
      ...facts,
      personKey: keyOfId(recipient.personId),
      kind: delivery.kind,
      askedAt: recipient.askedAt,
      runId: recipient.runId,
      attemptId: recipient.attemptId,
      deliveryId: delivery.deliveryId,
    });
  }
  const all = [...observations.values()];
  await writeObservations(transaction, delivery.service, all);
  await queuePeople(
    transaction,
    all.map(({ personKey }) => ({ service: delivery.service, personKey })),
  );
  return {
    people: given.flatMap(({ recipient, kinds }) =>
      kinds.map((lateKind) => ({ ...recipient, personKey: keyOfId(recipient.personId), lateKind })),
    ),
    learned: all.flatMap(({ personKey, identity_keys: keys }) =>
      keys.flatMap((identityKey) => (identityKey === personKey ? [] : [{ personKey, identityKey }])),
    ),
  };
}
