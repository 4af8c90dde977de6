import type { Transaction } from 'kysely';
import type { Tables } from '../db/schema.ts';
import {
  deliveredPart,
  isOfEmptyCall,
  type DeliveredBody,
  type DeliveredPart,
  type DeliveredShare,
} from '../domain/late-results/delivered-part.ts';
import { deliveryKindOf } from '../domain/late-results/delivery-kinds.ts';
import { hashOfAttempt, hiddenId } from '../suppression/hidden-ids.ts';
import type { LateResult } from '../service/answers/late-result.ts';
import { assignPeople, type AssignedPeople } from './assign-people.ts';
import { idsOfOthers, isRequestOfAnother, type LockedAttempt } from './awaiting-call.ts';
import { peopleOfCall } from './late-progress.ts';
import { suppressedOfDelivery, type SuppressedPeople } from './suppressed-of-delivery.ts';

export interface ComparedBody extends AssignedPeople {
  readonly body: DeliveredBody;
  readonly suppressed: SuppressedPeople;
  /** Undefined: the body belongs to another call. */
  readonly part: DeliveredPart | undefined;
  readonly isOfEmpty: boolean;
}

/** Decides which people of the call the people of a body are, and which results of the call the body delivers. */
export async function compareBody(
  transaction: Transaction<Tables>,
  attempt: LockedAttempt,
  content: LateResult,
): Promise<ComparedBody> {
  const { people, targetFields, requestId } = content;
  const kind = deliveryKindOf(content.kind, attempt.options);
  const assigned = await assignPeople(transaction, attempt, content, kind);
  const suppressed = await suppressedOfDelivery(
    transaction,
    attempt,
    people,
    assigned.recipients,
    assigned.assigned,
  );
  const others = attempt.hasAnswer ? [] : await idsOfOthers(transaction, attempt, assigned.knownIds);
  const shares = sharesOf(attempt, content, assigned, others);
  const bearsRequestId = requestId !== undefined && requestId === attempt.requestId;
  // The call's request id or a person of its answer shows whose results these are. Without both, other calls can.
  const isOfAnother =
    requestId !== undefined &&
    !bearsRequestId &&
    shares.every(({ knownId }) => knownId === undefined) &&
    (await isRequestOfAnother(transaction, attempt, requestId));
  const body = {
    kind,
    people: shares,
    targetFields,
    bearsRequestId,
  };
  const call = peopleOfCall(attempt);
  return {
    ...assigned,
    body,
    suppressed,
    part: isOfAnother ? undefined : deliveredPart(body, call),
    isOfEmpty: isOfEmptyCall(body, call),
  };
}

/** The people of a body in their order, with the facts that settlement needs. */
function sharesOf(
  attempt: LockedAttempt,
  { people }: LateResult,
  { recipients, assigned }: AssignedPeople,
  others: readonly string[],
): DeliveredShare[] {
  const known = new Set(attempt.foundIds);
  return people.map((person, index) => {
    const { id, phones, emails, fields, isPending } = person;
    const own = assigned[index]!.map((recipient) => recipients[recipient]!.personId);
    // Bodies can state the same values with other statuses.
    const values = [
      phones.map(({ sanitizedNumber, rawNumber }) => sanitizedNumber ?? rawNumber),
      emails.map(({ email }) => email),
    ];
    // The answer may list the person under a hidden id.
    const ownIds = [...(id === undefined ? [] : [id, hiddenId(attempt.attemptId, id)]), ...own];
    return {
      knownId: ownIds.find((personId) => known.has(personId)),
      // A hash, not the id: the alias stays after an erasure.
      alias: hashOfAttempt(attempt.attemptId, id ?? JSON.stringify(values)),
      hasPhones: phones.length > 0,
      hasEmails: emails.length > 0,
      isOther: id !== undefined && others.includes(id),
      fields,
      isPending,
    };
  });
}
