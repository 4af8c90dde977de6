import type { Transaction } from 'kysely';
import type { DeliveredPhone } from '../../domain/identity/values/phone.ts';
import type { DeliveryKind, LateKind } from '../../domain/late-results/delivery-kinds.ts';
import type { Tables } from '../../db/schema.ts';
import { appendToLog, type Observation } from './append-to-log.ts';
import type { LateLookups } from '../known/lookup-history.ts';
import { factsOfLateResult, keyOfId } from './observation.ts';
import { reuseLateResults } from './reuse-observations.ts';

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
  /** The run is undone: new entries take effect only when the undo is reverted. */
  readonly undone: boolean;
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
 * different results. A later call that uses this delivery gets its own observation, so that an undo of the earlier run
 * does not remove it. People without a row were paid for as well: a contact that is shown to be such a person later has
 * these results.
 *
 * @returns what to record in the lookup history, once for each transaction
 */
export async function recordLateResults(
  transaction: Transaction<Tables>,
  delivery: {
    readonly deliveryId: string;
    readonly kind: DeliveryKind;
    readonly service: string;
  },
  given: readonly GivenLateResult[],
): Promise<LateLookups> {
  const observations = new Map<string, Observation>();
  for (const { recipient, person } of given) {
    const facts = factsOfLateResult(recipient.personId, delivery.kind, person);
    // Two rows may be one person, and a body may name a person several times, with the same results or with others.
    observations.set(`${recipient.attemptId} ${JSON.stringify(facts)}`, {
      ...facts,
      person_key: keyOfId(recipient.personId),
      kind: delivery.kind,
      asked_at: recipient.askedAt,
      run_id: recipient.runId,
      attempt_id: recipient.attemptId,
      delivery_id: delivery.deliveryId,
    });
  }
  await appendToLog(transaction, delivery.service, { observations: [...observations.values()], matches: [] });
  const ofUndone = given.flatMap(({ recipient }) => (recipient.undone ? [recipient] : []));
  for (const attemptId of new Set(ofUndone.map((recipient) => recipient.attemptId)))
    await reuseLateResults(transaction, {
      service: delivery.service,
      attemptId,
      personKeys: ofUndone.flatMap((each) => (each.attemptId === attemptId ? [keyOfId(each.personId)] : [])),
    });
  return {
    people: given.flatMap(({ recipient, kinds }) =>
      kinds.map((lateKind) => ({ ...recipient, personKey: keyOfId(recipient.personId), lateKind })),
    ),
    learned: [...observations.values()].flatMap(({ person_key: personKey, identity_keys: keys }) =>
      keys.flatMap((identityKey) => (identityKey === personKey ? [] : [{ personKey, identityKey }])),
    ),
  };
}
