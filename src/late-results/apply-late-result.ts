import { createHash } from 'node:crypto';
import { sql, type Transaction } from 'kysely';
import {
  deliveryKindOf,
  lateKindNames,
  type DeliveryKind,
  type DeliveryStatus,
  type LateKind,
} from '../domain/late-results/delivery-kinds.ts';
import {
  assignDeliveredPeople,
  resultsInDelivery,
  type DeliveredResults,
} from '../domain/late-results/expected-results.ts';
import { formatPeopleCount, nounFor } from '../domain/text/format.ts';
import { pricedRequestOf, maxCredibleDeliveryCredits } from '../domain/money/credit-rules.ts';
import { formatCredits } from '../domain/money/decimal.ts';
import { leaveCostUnknown, settleLateCredits } from '../ledger/close-attempt.ts';
import { digest } from '../people/digest.ts';
import { isDigested, queuePeople } from '../people/digest-queue.ts';
import { recordLateLookups } from '../people/lookup-history.ts';
import { personKeyOfId, factsOfLateResult } from '../people/observation.ts';
import type { Warehouse } from '../db/database.ts';
import type { Tables } from '../db/schema.ts';
import {
  hashPersonForAttempt,
  hiddenId,
  withSuppressionsLocked,
  isHiddenId,
  suppressedRows,
  readSuppressedRows,
} from '../suppression/suppression-list.ts';
import type { DeliveredPerson, LateResult } from '../service/answers/late-result.ts';
import type { WaitingDelivery } from './deliveries.ts';
import { markResultsFilled, hashIdentifyingEmails, lockCall, type LockedCall } from './expected-results.ts';
import { writeObservations, type NewObservation } from '../people/people-tables.ts';
import { suppressionKeysOfPeople, suppressionKeysOfRows } from '../suppression/compared-keys.ts';
import type { Outcome } from '../domain/runs/outcome.ts';

/** What applying a delivery has done. `waiting`: it stays in the inbox while its call is in flight. */
export type DeliveryEffect = Exclude<DeliveryStatus, 'received'> | 'waiting' | 'done-before';

/**
 * Applies a delivery in one transaction: people, expected results, credits and the delivery's status. It takes effect
 * once, in any order with other deliveries and answers, because the attempt is locked first.
 *
 * @param content undefined if the body cannot be read
 */
export async function applyLateResult(
  warehouse: Warehouse,
  delivery: Pick<WaitingDelivery, 'deliveryId' | 'attemptId'>,
  content: LateResult | undefined,
): Promise<DeliveryEffect> {
  for (;;) {
    // The digest collects all keys of the people in the answer. The suppression list may contain one of these keys.
    await digest(warehouse);
    const effect = await withSuppressionsLocked(warehouse.database, (transaction) =>
      apply(transaction, delivery, content),
    );
    if (effect === 'not-digested') continue;
    await digest(warehouse);
    return effect;
  }
}

/**
 * Applies a delivery that is still `received`. It ends as duplicate (same bytes as an applied one), quarantined or
 * applied.
 *
 * @returns `not-digested`: the answer of the call must be digested first
 */
async function apply(
  transaction: Transaction<Tables>,
  { deliveryId, attemptId }: Pick<WaitingDelivery, 'deliveryId' | 'attemptId'>,
  content: LateResult | undefined,
): Promise<DeliveryEffect | 'not-digested'> {
  const call = await lockCall(transaction, attemptId);
  if (call.status === 'admitted') return 'waiting';
  if (!(await isDigested(transaction, attemptId))) return 'not-digested';
  // A repeated delivery has the bytes of another delivery of the call that has taken effect.
  const {
    rows: [stored],
  } = await sql<{ status: DeliveryStatus; isRepeated: boolean; isBodyDropped: boolean }>`
    select d.status,
      exists (select 1 from webhook_deliveries same where same.attempt_id = d.attempt_id
        and same.body_sha256 = d.body_sha256 and same.status = 'applied'
        and same.delivery_id <> d.delivery_id) as "isRepeated",
      exists (select 1 from webhook_deliveries same where same.attempt_id = d.attempt_id
        and same.body_sha256 = d.body_sha256 and same.body is null) as "isBodyDropped"
    from webhook_deliveries d where d.delivery_id = ${deliveryId} for update
  `.execute(transaction);
  if (stored?.status !== 'received') return 'done-before';
  /** Stores the end of the delivery. A body that names a suppressed person is removed. */
  const end = async (
    status: Exclude<DeliveryStatus, 'received'>,
    { reason, subject, results, personIds, credits, dropsBody = false }: Marking,
  ) => {
    await sql`
      update webhook_deliveries
      set status = ${status}, reason = ${reason}, applied_at = clock_timestamp(), late = late or ${call.runEnded},
        subject = ${subject ?? null}, covers = ${results?.covers ?? []}::text[],
        brings = ${results?.brings ?? []}::text[], person_ids = ${personIds ?? []}::text[],
        credits = ${credits ?? null}::numeric, body = case when not ${dropsBody} then body end
      where delivery_id = ${deliveryId}
    `.execute(transaction);
    return status;
  };
  if (stored.isRepeated)
    return end('duplicate', { reason: 'the same bytes took effect before', dropsBody: stored.isBodyDropped });
  if (!content) return end('quarantined', { reason: 'it cannot be read: no JSON with a list of people' });

  const kind = deliveryKindOf(content.kind, call.options);
  const named = await namePeople(transaction, call, content.people, kind);
  const personIds = named.map((person) => person?.personId);
  const suppressed = await suppressedOfDelivery(transaction, call, content.people, personIds);
  const shown = {
    dropsBody: suppressed.size > 0,
    personIds: content.people.flatMap(({ id }, index) =>
      id === undefined ? [] : [suppressed.has(index) ? hiddenId(attemptId, id) : id],
    ),
    credits: content.creditsConsumed === undefined ? null : formatCredits(content.creditsConsumed),
  };
  const foreign = whyForeign(call, content, named);
  if (foreign !== undefined) return end('quarantined', { reason: foreign, ...shown });
  if (!isCredible(call, content)) {
    const reason = 'a delivery states more credits than its call can cost';
    await leaveCostUnknown(transaction, attemptId, reason);
    return end('quarantined', { reason, ...shown });
  }

  const people = content.people.map((person, index) => ({ ...person, ...named[index] }));
  const results = resultsInDelivery(
    people.flatMap(({ key, ...person }) => (key === undefined ? [] : [{ ...person, key }])),
    { kind, targetFields: content.targetFields },
  );
  const given = content.people.flatMap((person, index) => {
    const personId = personIds[index];
    return personId === undefined || suppressed.has(index) ? [] : [{ personId, person }];
  });
  const observations = await recordLateResults(transaction, call, { deliveryId, kind }, given);
  const status = await end('applied', {
    reason: reasonOf(call, content, named, results, suppressed),
    subject: subjectOf(kind, results),
    results,
    ...shown,
  });
  await recordLateLookups(transaction, call, {
    results: given.flatMap(({ personId }) =>
      kindsIn(results.covers, hashPersonForAttempt(attemptId, personId)).map((lateKind) => ({
        personKey: personKeyOfId(personId),
        lateKind,
      })),
    ),
    learned: observations.flatMap(({ personKey, identity_keys: keys }) =>
      keys.flatMap((identityKey) => (identityKey === personKey ? [] : [{ personKey, identityKey }])),
    ),
    // This delivery proves that the service has searched for all people of the call. Only an answer would name these
    // people.
    ofAll: call.hasAnswer
      ? []
      : kindsIn(results.covers).map((lateKind) => ({
          lateKind,
          found: kindsIn(results.brings).includes(lateKind),
        })),
  });
  await markResultsFilled(transaction, call, deliveryId, results);
  await settleLateCredits(transaction, attemptId);
  return status;
}

interface PersonOfCall {
  readonly personId: string;
  /** Hash that identifies the person in the stored results of deliveries. */
  readonly key: string;
}

/** Finds which people of the call a delivery is about: by the answer, or without an answer by the delivery's ids. */
async function namePeople(
  transaction: Transaction<Tables>,
  call: LockedCall,
  people: readonly DeliveredPerson[],
  kind: DeliveryKind,
): Promise<readonly (PersonOfCall | undefined)[]> {
  const { attemptId } = call;
  const keyOf = (personId: string): string => hashPersonForAttempt(attemptId, personId);
  if (!call.hasAnswer)
    return people.map(({ id }) => (id === undefined ? undefined : { personId: id, key: keyOf(id) }));
  const expected = new Map(
    call.expected.map(({ personId, emails }) => [
      keyOf(personId),
      { personId, key: keyOf(personId), emails },
    ]),
  );
  const known = await idsInAnswers(transaction, call, people);
  const assigned = assignDeliveredPeople(
    [...expected.values()],
    people.map(({ id, addresses }) => ({
      key: id === undefined ? undefined : keyOf(id),
      emails: hashIdentifyingEmails(attemptId, addresses),
      isKnown: id !== undefined && known.has(id),
    })),
    kind,
  );
  return assigned.map((key) => (key === undefined ? undefined : expected.get(key)));
}

/** The ids in a delivery that the answer of any call contains. Such an id belongs to one person. */
async function idsInAnswers(
  transaction: Transaction<Tables>,
  { options: { service } }: LockedCall,
  people: readonly DeliveredPerson[],
): Promise<ReadonlySet<string>> {
  const personKeys = people.flatMap(({ id }) => (id === undefined ? [] : [personKeyOfId(id)]));
  const { rows } = await sql<{ id: string }>`
    select distinct person_id as id from observation_log
    where service = ${service} and person_key = any(${personKeys}::text[])
      and kind = 'answer' and person_id is not null
  `.execute(transaction);
  return new Set(rows.map(({ id }) => id));
}

/** Why a delivery does not belong to the call; undefined if it does. A search that found nobody can be billed. */
function whyForeign(
  call: LockedCall,
  { people, creditsConsumed: credits = 0n, requestId }: LateResult,
  named: readonly (PersonOfCall | undefined)[],
): string | undefined {
  if (call.hasAnswer && call.foundPeople === 0 && requestId !== undefined && requestId === call.requestId)
    return undefined;
  if (people.length === 0 && credits > 0n) return 'it states a price and no people';
  return people.length > 0 && named.every((person) => person === undefined)
    ? 'no person in it belongs to this call'
    : undefined;
}

/** False if the delivery states a price above everything that its call can cost. */
function isCredible(
  call: LockedCall,
  { creditsConsumed: credits = 0n, creditsProblem }: LateResult,
): boolean {
  const most = maxCredibleDeliveryCredits(pricedRequestOf(call.options), call.people);
  return creditsProblem !== 'too-large' && (most === undefined || credits <= most);
}

/** The subject of a delivery. Of several deliveries with the same subject, the highest cost counts. */
function subjectOf(kind: DeliveryKind, { covers, brings }: DeliveredResults): string {
  const entries = (brings.length > 0 ? brings : covers).toSorted();
  return `${kind}:${createHash('sha256').update(entries.join('\n')).digest('hex').slice(0, 24)}`;
}

/** The kinds of late results in entries such as `phone/3f2a…`, of the person with this key, or of all people. */
function kindsIn(entries: readonly string[], key = ''): LateKind[] {
  return lateKindNames.filter((kind) =>
    entries.some((entry) => (key === '' ? entry.startsWith(`${kind}/`) : entry === `${kind}/${key}`)),
  );
}

/** Remarks about an applied delivery for the operator; null if there are none. */
function reasonOf(
  { hasAnswer }: LockedCall,
  { people, unreadablePeople }: LateResult,
  named: readonly (PersonOfCall | undefined)[],
  { covers }: DeliveredResults,
  suppressed: ReadonlySet<number>,
): string | null {
  const strangers = people.filter((_, index) => named[index] === undefined || suppressed.has(index)).length;
  const parts = [
    covers.length === 0 && strangers === 0 && 'it has no results',
    strangers > 0 &&
      `${strangers} of ${formatPeopleCount(people.length)} ${nounFor(strangers, 'was', 'were')} not asked for, ` +
        'not found, contradictory, or suppressed',
    !hasAnswer &&
      'its call has no recorded answer: a contact gets these results when an answer names the person',
    suppressed.size > 0 && 'its body is not kept: it names a person on the suppression list',
    unreadablePeople > 0 && `${formatPeopleCount(unreadablePeople)} cannot be read`,
  ];
  return parts.filter(Boolean).join('; ') || null;
}

interface Marking {
  readonly reason: string | null;
  readonly subject?: string;
  readonly results?: DeliveredResults;
  readonly personIds?: readonly string[];
  readonly credits?: string | null;
  /** True if the body must be removed, because it names a person on the suppression list. */
  readonly dropsBody?: boolean;
}

/** A person in a delivery, with the id that the answer of the call has for this person. */
interface PersonInDelivery {
  readonly personId: string;
  readonly person: DeliveredPerson;
}

/**
 * Appends the results of a delivery to the observation log, once: one observation per person, or several if the
 * delivery contradicts itself. People without a row are kept, because a later contact can be such a person.
 */
async function recordLateResults(
  transaction: Transaction<Tables>,
  call: LockedCall,
  delivery: { readonly deliveryId: string; readonly kind: DeliveryKind },
  given: readonly PersonInDelivery[],
): Promise<readonly NewObservation[]> {
  const { deliveryId, kind } = delivery;
  const { service } = call.options;
  const observations = new Map<string, NewObservation>();
  for (const { personId, person } of given) {
    const facts = factsOfLateResult(personId, kind, person);
    observations.set(JSON.stringify(facts), {
      ...facts,
      service,
      personKey: personKeyOfId(personId),
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

/**
 * Finds the suppressed people of a delivery, as indexes, by all their keys. If the call was also for a suppressed or
 * erased person, unassigned people count as suppressed, because each may be this person under another id.
 *
 * @param personIds for each person of the delivery, the id of the person who gets the results; undefined: nobody
 */
async function suppressedOfDelivery(
  transaction: Transaction<Tables>,
  call: LockedCall,
  people: readonly DeliveredPerson[],
  personIds: readonly (string | undefined)[],
): Promise<ReadonlySet<number>> {
  const isUnnamed = (number: number): boolean => !call.hasAnswer || personIds[number] === undefined;
  const isUnnamedSuppressed =
    people.some((_, number) => isUnnamed(number)) && (await asksForSuppressed(transaction, call));
  const keys = await keysOfAssigned(transaction, call, personIds);
  const compared = people.map(({ id, addresses }, number) => ({
    number,
    keys: [
      ...(id === undefined ? [] : [`person:${id}`]),
      ...addresses.map((email) => `email:${email}`),
      ...(keys.get(number) ?? []),
    ],
  }));
  const listed = await readSuppressedRows(transaction, suppressionKeysOfPeople(compared));
  const isListed = (number: number): boolean =>
    listed.has(number) || isHiddenId(personIds[number] ?? '') || (isUnnamed(number) && isUnnamedSuppressed);
  const listedIds = new Set(
    people.flatMap(({ id }, number) => (isListed(number) ? [id, personIds[number]] : [])),
  );
  listedIds.delete(undefined);
  return new Set(
    people.flatMap(({ id }, number) =>
      isListed(number) || listedIds.has(id) || listedIds.has(personIds[number]) ? [number] : [],
    ),
  );
}

/** Reads the keys of rows matched to people of a delivery, and the ids of these people, by index in the delivery. */
async function keysOfAssigned(
  transaction: Transaction<Tables>,
  { attemptId }: LockedCall,
  personIds: readonly (string | undefined)[],
): Promise<ReadonlyMap<number, readonly string[]>> {
  const assigned = personIds.flatMap((personId, number) =>
    personId === undefined ? [] : [{ number, personId, personKey: personKeyOfId(personId) }],
  );
  const { rows } = await sql<{ number: number; keys: readonly string[] }>`
    select a.number, array_remove(array_agg(own.identity_key) || a."personKey", null) as keys
    from jsonb_to_recordset(${JSON.stringify(assigned)}::jsonb)
      as a (number integer, "personId" text, "personKey" text)
    left join attempt_people p on p.attempt_id = ${attemptId} and p.person_id = a."personId"
    left join run_rows r on r.run_id = p.run_id and r.row_number = p.row_number
    left join lateral unnest(r.keys || ('domain:' || r.domain)) as own (identity_key) on true
    group by a.number, a."personKey"
  `.execute(transaction);
  return new Map(rows.map(({ number, keys }) => [number, keys]));
}

/** True if the call was for a person who is now suppressed or erased. People who were not found do not count. */
async function asksForSuppressed(
  transaction: Transaction<Tables>,
  { attemptId, runId, foundIds }: LockedCall,
): Promise<boolean> {
  if (foundIds.some(isHiddenId)) return true;
  const rows = sql`
    select row_number from attempt_people
    where attempt_id = ${attemptId} and outcome is distinct from ${'not_found' satisfies Outcome}`;
  const { rows: found } = await sql<{ asksForSuppressed: boolean }>`
    select exists (${suppressedRows(suppressionKeysOfRows(runId, rows))}) or exists (
      select 1 from run_rows where run_id = ${runId} and row_number in (${rows})
        and contact_id = 'erased:' || row_number) as "asksForSuppressed"
  `.execute(transaction);
  return found[0]!.asksForSuppressed;
}
