import { createHash } from 'node:crypto';
import { sql, type Transaction } from 'kysely';
import {
  ofAnotherCall,
  deliveryKindOf,
  type DeliveryStatus,
  type DeliveryKind,
} from '../domain/late-results/delivery-kinds.ts';
import { countedPeople, nounFor } from '../domain/text/format.ts';
import { askOf, maxCredibleCredits } from '../domain/money/credit-rules.ts';
import { formatCredits, type Credits } from '../domain/money/decimal.ts';
import {
  coveredKinds,
  deliveredPart,
  isOfEmptyCall,
  type DeliveredPart,
  type DeliveredBody,
  type DeliveredShare,
} from '../domain/late-results/delivered-part.ts';
import { leaveUnknown } from '../ledger/late-credits.ts';
import { digest, isDigested } from '../people/digest.ts';
import { recordLateLookups } from '../people/lookup-history.ts';
import { recordLateResults } from './late-observations.ts';
import type { Warehouse } from '../db/database.ts';
import { hiddenId, hashOfAttempt } from '../suppression/suppression-list.ts';
import { writeAboutPeople } from '../suppression/write-about-people.ts';
import type { LateResult } from '../service/answers/late-result.ts';
import {
  lockAttempt,
  idsOfOthers,
  isRequestOfAnother,
  idsInLog,
  readRecipients,
  type LockedAttempt,
  type NamedRecipient,
} from './awaiting-call.ts';
import { arrivedOfLost, settleByParts, peopleOfCall } from './late-results-status.ts';
import { givenResults, withoutGivenBefore } from './delivered-bodies.ts';
import type { Tables } from '../db/schema.ts';
import { suppressedOfDelivery, type SuppressedPeople } from './suppressed-of-delivery.ts';
import { assignDelivered } from '../domain/late-results/late-assignment.ts';

/** Result of a delivery; `waiting`: its call is still in flight, and the delivery stays in the inbox. */
export type DeliveryEffect = Exclude<DeliveryStatus, 'received'> | 'waiting' | 'done-before';

/**
 * Applies a delivery in one transaction: contacts, credits, awaited results and the delivery's status. A delivery takes
 * effect once. The tables do not depend on the order of deliveries, or on whether they arrive before the answer or
 * after the run's end.
 *
 * The attempt is locked first, so that deliveries of one request are applied one after another.
 *
 * @param content undefined if the body cannot be read
 */
export async function applyLateResult(
  warehouse: Warehouse,
  delivery: { readonly deliveryId: string; readonly attemptId: string },
  content: LateResult | undefined,
): Promise<DeliveryEffect> {
  for (;;) {
    // The answer of the call says whose results these are.
    await digest(warehouse);
    const effect = await apply(warehouse, delivery, content);
    if (effect === 'not-digested') continue;
    await digest(warehouse);
    return effect;
  }
}

async function apply(
  warehouse: Warehouse,
  delivery: { readonly deliveryId: string; readonly attemptId: string },
  content: LateResult | undefined,
): Promise<DeliveryEffect | 'not-digested'> {
  const { deliveryId } = delivery;
  return writeAboutPeople(
    warehouse.database,
    async (transaction): Promise<DeliveryEffect | 'not-digested'> => {
      const attempt = await lockAttempt(transaction, delivery.attemptId);
      if (attempt.status === 'admitted') return 'waiting';
      if (!(await isDigested(transaction, attempt))) return 'not-digested';
      const stored = await lockDelivery(transaction, deliveryId);
      if (stored?.status !== 'received') return 'done-before';
      const mark = (marking: Marking): Promise<void> =>
        markDelivery(transaction, deliveryId, attempt, marking);

      if (stored.isRepeated) {
        const { isBodyDropped: dropsBody } = stored;
        await mark({ status: 'duplicate', reason: 'the same bytes took effect before', dropsBody });
        return 'duplicate';
      }
      if (!content) {
        await mark({ status: 'quarantined', reason: 'it cannot be read: no JSON with a list of people' });
        return 'quarantined';
      }

      const compared = await compareBody(transaction, attempt, content);
      const { recipients, assigned, suppressed, body, part } = compared;
      const shown = {
        dropsBody: suppressed.people.size > 0,
        personIds: compared.personIds.map((id) =>
          suppressed.ids.has(id) ? hiddenId(attempt.attemptId, id) : id,
        ),
        credits: content.creditsConsumed,
      };
      const refusal = refusalOf(attempt, content, compared);
      if (refusal) {
        await mark({ status: 'quarantined', reason: refusal.reason, ...shown });
        if (refusal.isImpossible) await leaveUnknown(transaction, attempt.attemptId, refusal.reason);
        return 'quarantined';
      }

      const given = givenResults(content.people, recipients, assigned, suppressed, (person) =>
        coveredKinds(body.people[person]!, body),
      );
      const logged = { deliveryId, kind: body.kind, service: attempt.options.service };
      const added = stored.isAgain ? await withoutGivenBefore(transaction, logged, given) : given;
      const lookups = await recordLateResults(transaction, logged, added);

      const strangers = assigned.filter(
        (own, index) => own.length === 0 || suppressed.people.has(index),
      ).length;
      const orphaned =
        (content.people.length > 0 || compared.isOfEmpty) && strangers === content.people.length;
      await mark({
        status: orphaned ? 'orphaned' : 'applied',
        reason: reasonOf(attempt, content, {
          strangers,
          suppressed: shown.dropsBody,
          isWithoutResults: [...part!.covers, ...part!.brings].length === 0 && strangers === 0,
        }),
        subject: subjectOf(body.kind, part!),
        ...part!,
        ...shown,
      });
      await recordLateLookups(
        transaction,
        logged.service,
        lookups,
        await arrivedOfLost(transaction, attempt),
      );
      await settleByParts(transaction, attempt);
      return orphaned ? 'orphaned' : 'applied';
    },
  );
}

interface StoredDelivery {
  readonly status: DeliveryStatus;
  /** Another delivery of the call with the same bytes took effect. */
  readonly isRepeated: boolean;
  readonly isBodyDropped: boolean;
  /** It has been applied before, and is applied again, because more is known about its people. */
  readonly isAgain: boolean;
}

async function lockDelivery(
  transaction: Transaction<Tables>,
  deliveryId: string,
): Promise<StoredDelivery | undefined> {
  const { rows } = await sql<StoredDelivery>`
    select d.status,
      exists (select 1 from webhook_deliveries same where same.attempt_id = d.attempt_id
        and same.body_sha256 = d.body_sha256 and same.status = 'applied'
        and same.delivery_id <> d.delivery_id) as "isRepeated",
      exists (select 1 from webhook_deliveries same where same.attempt_id = d.attempt_id
        and same.body_sha256 = d.body_sha256 and same.body is null) as "isBodyDropped",
      d.person_ids <> '{}' as "isAgain"
    from webhook_deliveries d where d.delivery_id = ${deliveryId} for update
  `.execute(transaction);
  return rows[0];
}

/** Reports show the highest cost among bodies with the same subject. */
function subjectOf(kind: DeliveryKind, { covers, brings }: DeliveredPart): string {
  const entries = (brings.length > 0 ? brings : covers).toSorted();
  return `${kind}:${createHash('sha256').update(entries.join('\n')).digest('hex').slice(0, 24)}`;
}

/** Why a readable body is quarantined and has no effect; undefined: it takes effect. */
function refusalOf(
  attempt: LockedAttempt,
  content: LateResult,
  { part, isOfEmpty }: Pick<ComparedBody, 'part' | 'isOfEmpty'>,
): { readonly reason: string; readonly isImpossible: boolean } | undefined {
  if (!part) return { reason: ofAnotherCall, isImpossible: false };
  const { creditsConsumed: credits, creditsProblem } = content;
  if (content.people.length === 0 && !isOfEmpty && credits !== undefined && credits > 0n)
    return { reason: 'it states a price and no people', isImpossible: false };
  const most = maxCredibleCredits(askOf(attempt.options), attempt.people);
  const isCredible = credits === undefined || most === undefined || credits <= most;
  if (isCredible && creditsProblem !== 'too-large') return undefined;
  return { reason: 'a delivery states more credits than its call can cost', isImpossible: true };
}

function reasonOf(
  attempt: LockedAttempt,
  content: LateResult,
  about: Readonly<{ strangers: number; suppressed: boolean; isWithoutResults: boolean }>,
): string | null {
  const { strangers, suppressed, isWithoutResults } = about;
  const ofStrangers = attempt.hasAnswer
    ? `${strangers} of ${countedPeople(content.people.length)} ${nounFor(strangers, 'was', 'were')} not ` +
      'asked for, not found, contradictory, or suppressed'
    : 'the answer of its call was never recorded, so it is unknown whose results these are';
  const parts = [
    isWithoutResults && 'it has no results',
    strangers > 0 && ofStrangers,
    suppressed && 'its body is not kept: it names a person on the suppression list',
    content.unreadablePeople > 0 &&
      attempt.hasAnswer &&
      `${countedPeople(content.unreadablePeople)} cannot be read`,
  ];
  return parts.filter(Boolean).join('; ') || null;
}

interface Marking {
  readonly status: Exclude<DeliveryStatus, 'received'>;
  readonly reason: string | null;
  readonly subject?: string;
  readonly covers?: readonly string[];
  readonly brings?: readonly string[];
  readonly personIds?: readonly string[];
  readonly credits?: Credits | undefined;
  /** The body is removed, because it names a person on the suppression list. */
  readonly dropsBody?: boolean;
}

async function markDelivery(
  transaction: Transaction<Tables>,
  deliveryId: string,
  attempt: LockedAttempt,
  marking: Marking,
): Promise<void> {
  await sql`
    update webhook_deliveries
    set status = ${marking.status}, reason = ${marking.reason}, applied_at = clock_timestamp(),
      late = late or ${attempt.runEnded}, subject = ${marking.subject ?? null},
      covers = ${marking.covers ?? []}::text[], brings = ${marking.brings ?? []}::text[],
        person_ids = ${marking.personIds ?? []}::text[],
      credits = ${marking.credits === undefined ? null : formatCredits(marking.credits)}::numeric,
      body = case when not ${marking.dropsBody ?? false} then body end
    where delivery_id = ${deliveryId}
  `.execute(transaction);
}

interface ComparedBody extends AssignedPeople {
  readonly body: DeliveredBody;
  readonly suppressed: SuppressedPeople;
  /** Undefined: the body belongs to another call. */
  readonly part: DeliveredPart | undefined;
  readonly isOfEmpty: boolean;
}

/** Decides which people of the call the people of a body are, and which results of the call the body delivers. */
async function compareBody(
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

interface AssignedPeople {
  readonly personIds: readonly string[];
  /** Ids in the body that the answer of the call does not have, and an answer of another call has. */
  readonly knownIds: readonly string[];
  readonly recipients: readonly NamedRecipient[];
  /** For each person of the body the indexes of their recipients. */
  readonly assigned: readonly (readonly number[])[];
}

async function assignPeople(
  transaction: Transaction<Tables>,
  attempt: LockedAttempt,
  { people }: LateResult,
  kind: DeliveryKind,
): Promise<AssignedPeople> {
  const personIds = people.flatMap(({ id }) => (id === undefined ? [] : [id])).sort();
  const otherIds = personIds.filter((id) => !attempt.foundIds.includes(id));
  const recipients = await readRecipients(transaction, attempt, personIds);
  const knownIds = await idsInLog(transaction, attempt.options.service, otherIds);
  const assigned = assignDelivered(recipients, people, kind, [...attempt.foundIds, ...knownIds]);
  return { personIds, knownIds, recipients, assigned };
}
