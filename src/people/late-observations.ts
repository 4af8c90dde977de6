import type { Transaction } from 'kysely';
import type { DeliveredPhone } from '../domain/identity/phone.ts';
import {
  deliveryKinds,
  lateKinds,
  type DeliveryKind,
  type LateKind,
} from '../domain/late-results/delivery-kinds.ts';
import type { Tables } from '../db/schema.ts';
import { appendToLog, type Observation } from './append-to-log.ts';
import { recordMissing } from './lookup-history.ts';
import { personKey, factsOfLateResult } from './observation.ts';

/** A contact that a late result is for. */
export interface LateContact {
  readonly source: string;
  readonly contactId: string;
  readonly personId: string;
  readonly runId: string;
  readonly rowNumber: number;
  readonly attemptId: string;
  /** When the contact was asked for, by the database's clock in full precision. */
  readonly askedAt: string;
  readonly emails: readonly string[];
  /** The run is undone: new entries take effect only when the undo is reverted. */
  readonly undone: boolean;
}

/** A person of a delivery, assigned to a contact. */
export interface GivenLateResult {
  readonly contact: LateContact;
  readonly person: {
    readonly phones: readonly DeliveredPhone[];
    readonly emails: readonly { readonly email: string; readonly status: string | undefined }[];
  };
  /** The kinds of results in the body. */
  readonly kinds: readonly LateKind[];
}

/**
 * Appends the results of a delivery: one observation per person and call. A later call that uses this delivery gets its
 * own observation, so that an undo of the earlier run does not remove it.
 */
export async function recordLateResults(
  transaction: Transaction<Tables>,
  delivery: {
    readonly deliveryId: string;
    readonly kind: DeliveryKind;
    readonly service: string;
  },
  given: readonly GivenLateResult[],
): Promise<void> {
  const observations = new Map<string, Observation>();
  const people = [...new Set(given.map(({ person }) => person))];
  for (const { contact, person } of given) {
    const key = personKey(contact.personId, contact);
    // Two contacts may be one person, and a body may name a person twice.
    observations.set(`${contact.attemptId} ${people.indexOf(person)} ${key}`, {
      ...factsOfLateResult(contact.personId, delivery.kind, person),
      person_key: key,
      kind: delivery.kind,
      asked_at: contact.askedAt,
      run_id: contact.runId,
      attempt_id: contact.attemptId,
      delivery_id: delivery.deliveryId,
    });
  }
  await appendToLog(transaction, delivery.service, { observations: [...observations.values()], matches: [] });
  await recordMissing(
    transaction,
    given
      .filter(
        ({ person, kinds }) =>
          person.phones.length === 0 && kinds.some((kind) => lateKinds[kind].values === 'phones'),
      )
      .map(({ contact }) => contact),
    deliveryKinds[delivery.kind].phoneGroup,
  );
}
