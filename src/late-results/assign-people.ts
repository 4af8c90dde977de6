import type { Transaction } from 'kysely';
import type { DeliveryKind } from '../domain/late-results/delivery-kinds.ts';
import { assignDelivered } from '../domain/late-results/late-assignment.ts';
import type { Tables } from '../db/schema.ts';
import { keyOfId } from '../people/log/observation.ts';
import { lockLog } from '../people/project.ts';
import type { LateResult } from '../service/answers/late-result.ts';
import {
  idsInLog,
  idsOfSamePeople,
  readRecipients,
  type LockedAttempt,
  type NamedRecipient,
} from './awaiting-call.ts';

export interface AssignedPeople {
  readonly personIds: readonly string[];
  /** Ids in the body that the answer of the call does not have, and an answer of another call has. */
  readonly knownIds: readonly string[];
  readonly recipients: readonly NamedRecipient[];
  /** For each person of the body the indexes of their recipients. */
  readonly assigned: readonly (readonly number[])[];
}

export async function assignPeople(
  transaction: Transaction<Tables>,
  attempt: LockedAttempt,
  { people }: LateResult,
  kind: DeliveryKind,
): Promise<AssignedPeople> {
  const personIds = people.flatMap(({ id }) => (id === undefined ? [] : [id])).sort();
  const otherIds = personIds.filter((id) => !attempt.foundIds.includes(id));
  if (otherIds.length > 0) await lockPeopleOf(transaction, attempt, personIds);
  const recipients = await readRecipients(transaction, attempt, personIds);
  const knownIds = await idsInLog(transaction, attempt.options.service, otherIds);
  const foundIds = await idsOfSamePeople(transaction, attempt, knownIds);
  const named = people.map(({ id, addresses }) => ({ id: foundIds.get(id ?? '') ?? id, addresses }));
  const assigned = assignDelivered(recipients, named, kind, [...attempt.foundIds, ...knownIds]);
  return { personIds, knownIds, recipients, assigned };
}

/**
 * Locks the people of the call against transactions that show another id of such a person, or that record an answer
 * about a person of a call without an answer.
 */
async function lockPeopleOf(
  transaction: Transaction<Tables>,
  { foundIds, hasAnswer, options: { service } }: LockedAttempt,
  personIds: readonly string[],
): Promise<void> {
  const ids = hasAnswer ? foundIds : personIds;
  await lockLog(transaction, { service, people: ids.map(keyOfId), contacts: [] });
}
