import { isDeepStrictEqual } from 'node:util';
import { sql, type Transaction } from 'kysely';
import type { Tables } from '../db/schema.ts';
import {
  deliveryKindOf,
  deliveryKinds,
  lateKinds,
  lateKindsBy,
  creditedStatuses,
  type DeliveryKind,
  type LateKind,
} from '../domain/late-results/delivery-kinds.ts';
import { factsOfLateResult, keyOfId, type ObservedFacts } from '../people/observation.ts';
import type { GivenLateResult } from './late-observations.ts';
import type { LateResult } from '../service/answers/late-result.ts';
import { lockAttempt, type NamedRecipient } from './awaiting-call.ts';
import type { SuppressedPeople } from './suppressed-of-delivery.ts';
import type { Warehouse } from '../db/database.ts';
import { anyOf } from '../db/expressions.ts';
import { countUncovered } from '../domain/late-results/delivered-part.ts';
import { kindsOfFields } from '../domain/late-results/late-assignment.ts';
import { contentOf } from './deliveries.ts';
import {
  isInScope,
  peopleOfCall,
  readAppliedParts,
  settleByParts,
  type LateScope,
} from './late-results-status.ts';

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
  const { rows } = await sql<{ personKey: string; attemptId: string; facts: ObservedFacts['facts'] }>`
    select person_key as "personKey", attempt_id as "attemptId", facts from observation_log
    where service = ${service} and person_key = any(${keys}::text[]) and delivery_id = ${deliveryId}
  `.execute(transaction);
  return given.filter(({ recipient: { attemptId, personId }, person }) => {
    const { facts } = factsOfLateResult(personId, logged.kind, person);
    return !rows.some(
      (row) =>
        row.attemptId === attemptId &&
        row.personKey === keyOfId(personId) &&
        isDeepStrictEqual(row.facts, asStored(facts)),
    );
  });
}

/** As the database returns it: without members that are undefined. */
function asStored(facts: ObservedFacts['facts']): unknown {
  return JSON.parse(JSON.stringify(facts));
}

/** A body that was applied before. */
interface LastBody {
  /** SHA-256 of the stored bytes, hexadecimal. */
  readonly hash: string;
  readonly content: LateResult;
  /**
   * `poll`: the service has nothing else. `unfinished poll`: the same, but the service does not say that it has ended.
   * `webhook`: the call cannot be polled.
   */
  readonly from: 'poll' | 'unfinished poll' | 'webhook';
}

/**
 * Settles a request after its deadline by a body that has all results that arrived. People whom the body does not name
 * have no results if the body counts them as missing. A polled body without a count is enough in two cases: the request
 * is a waterfall, which need not count people without results, or the service states that the request has ended.
 *
 * A body says nothing about results that come in another kind of delivery.
 *
 * Before the deadline a body may be a part, and decides nothing about people whom it does not name.
 */
export async function settleByLastBody(
  warehouse: Warehouse,
  attemptId: string,
  { hash, content, from }: LastBody,
): Promise<void> {
  await warehouse.database.transaction().execute(async (transaction) => {
    const attempt = await lockAttempt(transaction, attemptId);
    const parts = await readAppliedParts(transaction, attemptId);
    const last = parts.find((part) => part.hash === hash);
    if (attempt.awaits.length === 0 || !last) return;
    const { missing, targetFields } = content;
    const people = peopleOfCall(attempt);
    const has = new Set(last.covers);
    // Phones and a waterfall of one request have bodies of their own, also in polls.
    const ofBody = lateKindsBy(deliveryKindOf(content.kind, attempt.options));
    const isUncountedWhole = (kind: LateKind): boolean => {
      const delivery = lateKinds[kind].deliveredBy;
      if (from === 'webhook') return false;
      return deliveryKinds[delivery].countsMissing
        ? from === 'poll'
        : kindsOfFields(delivery, targetFields).includes(kind);
    };
    const ended = attempt.awaits.filter((kind) => {
      if (!ofBody.includes(kind)) return false;
      const ofKind = (entry: string): boolean => entry.startsWith(`${kind}/`);
      const isWhole = parts.every(({ covers }) => covers.every((entry) => has.has(entry) || !ofKind(entry)));
      const uncovered = countUncovered(kind, people, last.covers);
      const isCounted =
        uncovered === 0 || (missing === undefined ? isUncountedWhole(kind) : missing >= uncovered);
      // A waterfall may deliver addresses and phones in two bodies that both name the fields of the request.
      const { countsMissing } = deliveryKinds[lateKinds[kind].deliveredBy];
      return isWhole && isCounted && (countsMissing || last.covers.some(ofKind));
    });
    await settleByParts(transaction, attempt, ended);
  });
}

/** Settles a request after its deadline by the bodies that the service has delivered: it cannot be polled. */
export async function settleByDelivered(warehouse: Warehouse, attemptId: string): Promise<void> {
  const { rows } = await sql<{ hash: string; body: Buffer; contentEncoding: string | null }>`
    select encode(body_sha256, 'hex') as hash, body, content_encoding as "contentEncoding"
    from webhook_deliveries
    where attempt_id = ${attemptId} and status in (${anyOf(creditedStatuses)}) and body is not null
  `.execute(warehouse.database);
  for (const { hash, ...stored } of rows) {
    const content = await contentOf(stored);
    if (content) await settleByLastBody(warehouse, attemptId, { hash, content, from: 'webhook' });
  }
}

/** Settles the requests whose deadline has passed and that cannot be polled, by what was delivered. */
export async function settleExpired(warehouse: Warehouse, scope: LateScope): Promise<void> {
  const { rows } = await sql<{ attemptId: string }>`
    select attempt_id as "attemptId" from attempts a
    where status = 'awaiting' and awaits <> '{}' and next_poll_at is null and awaited_until <= clock_timestamp()
      and ${isInScope(scope, sql`a.run_id`, sql`a.awaited_until`)}
  `.execute(warehouse.database);
  for (const { attemptId } of rows) await settleByDelivered(warehouse, attemptId);
}
