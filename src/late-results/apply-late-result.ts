import { createHash } from 'node:crypto';
import { sql, type Transaction } from 'kysely';
import { countedPeople, nounFor } from '../domain/text/counted.ts';
import { formatCredits, type Credits } from '../domain/money/decimal.ts';
import { assignDelivered, waterfallKinds } from '../domain/late-results/late-assignment.ts';
import { isComplete, lateKindsOf, type LateKind } from '../domain/late-results/awaited-results.ts';
import type { DeliveredPhone } from '../domain/identity/phone.ts';
import { settleLateCredits } from '../ledger/late-credits.ts';
import { writeLateEmails, writePhones } from '../people/contact-phones.ts';
import type { Warehouse } from '../db/database.ts';
import { hiddenId, lockSuppressionsShared } from '../privacy/suppressions.ts';
import { suppressedOfDelivery, type NamedContact } from './suppressed-of-delivery.ts';
import type { RunOptions, Tables } from '../db/schema.ts';

/** What a delivery says, as far as it is applied. */
export interface LateContent {
  readonly kind: 'phones' | 'waterfall';
  readonly requestId: string | undefined;
  readonly people: readonly {
    readonly id: string | undefined;
    readonly phones: readonly DeliveredPhone[];
    readonly emails: readonly { readonly email: string; readonly status: string | undefined }[];
  }[];
  readonly unreadablePeople: number;
  readonly creditsConsumed: Credits | undefined;
  readonly unnamedMissing: number;
  readonly targetFields: readonly string[];
}

/** What became of a delivery; `waiting`: its call is still in the air, and it stays in the inbox. */
export type DeliveryEffect = 'applied' | 'duplicate' | 'orphaned' | 'quarantined' | 'waiting' | 'done-before';

interface LockedAttempt {
  readonly attemptId: string;
  readonly runId: string;
  readonly status: string;
  readonly requestId: string | null;
  readonly foundIds: readonly string[];
  readonly foundPeople: number;
  readonly awaits: readonly LateKind[];
  readonly options: RunOptions;
  readonly runEnded: boolean;
}

/**
 * Applies one delivery in one transaction: contacts, credits, what is still awaited, and the delivery's own mark. Applying
 * it again changes nothing. Whatever arrives twice, out of order, before the answer or after the run's end ends up in the
 * same tables.
 *
 * The attempt is locked first, so that deliveries of one request are applied one after another.
 *
 * @param content undefined where the body cannot be understood
 */
export async function applyLateResult(
  warehouse: Warehouse,
  delivery: { readonly deliveryId: string; readonly attemptId: string; readonly origin: 'webhook' | 'poll' },
  content: LateContent | undefined,
): Promise<DeliveryEffect> {
  const { deliveryId } = delivery;
  return warehouse.database.transaction().execute(async (transaction): Promise<DeliveryEffect> => {
    await lockSuppressionsShared(transaction);
    const attempt = await lockAttempt(transaction, await ownerOf(transaction, delivery.attemptId, content));
    if (attempt.status === 'admitted') return 'waiting';
    const stored = await sql<{ status: string; hash: string; repeated: boolean; bodyDropped: boolean }>`
      select d.status, encode(d.body_sha256, 'hex') as hash, exists (
        select 1 from webhook_deliveries same where same.attempt_id = ${attempt.attemptId} and same.body_sha256 = d.body_sha256
          and same.status = 'applied' and same.delivery_id <> d.delivery_id) as repeated,
        exists (select 1 from webhook_deliveries same where same.attempt_id = ${attempt.attemptId} and same.body_sha256 = d.body_sha256
          and same.body is null) as "bodyDropped"
      from webhook_deliveries d where d.delivery_id = ${deliveryId} for update
    `.execute(transaction);
    if (stored.rows[0]?.status !== 'received') return 'done-before';
    const mark = (marking: Marking): Promise<void> => markDelivery(transaction, deliveryId, attempt, marking);

    // What a poll fetched can have come by webhook before: it changes no contact, but it is the service's whole word.
    if (stored.rows[0].repeated && delivery.origin === 'webhook') {
      const { bodyDropped: dropsBody } = stored.rows[0];
      await mark({ status: 'duplicate', reason: 'the same bytes took effect before', dropsBody });
      return 'duplicate';
    }
    if (!content) {
      await mark({ status: 'quarantined', reason: 'it cannot be understood: no JSON with a list of people' });
      return 'quarantined';
    }

    const asked = lateKindsOf(attempt.options);
    const kind = kindOf(content, asked);
    const personIds = content.people.flatMap(({ id }) => (id === undefined ? [] : [id])).sort();
    const all = await readContacts(transaction, attempt.attemptId, personIds);
    const suppressed = await suppressedOfDelivery(transaction, attempt, content.people, all);
    const contacts = all.filter(({ personId }) => !suppressed.has(personId));
    const assigned = assignDelivered(contacts, content.people, kind, attempt.foundIds);
    const write = { deliveryId, origin: kind === 'phones' ? ('reveal' as const) : ('waterfall' as const) };
    const given = content.people.flatMap((person, index) =>
      assigned[index]!.map((contact) => ({ contact: contacts[contact]!, person })),
    );
    await writePhones(transaction, write, given);
    if (kind === 'waterfall') await writeLateEmails(transaction, given);

    const strangers = content.people.length - assigned.filter((contact) => contact.length > 0).length;
    const orphaned = content.people.length > 0 && strangers === content.people.length;
    await mark({
      status: orphaned ? 'orphaned' : 'applied',
      reason: reasonOf(
        attempt,
        content,
        strangers,
        suppressed.size,
        given.some(({ contact }) => contact.undone),
      ),
      dropsBody: suppressed.size > 0,
      subject: `${kind}:${createHash('sha256')
        .update(personIds.length === 0 ? stored.rows[0].hash : personIds.join('\n'))
        .digest('hex')
        .slice(0, 24)}`,
      // Numbered, since it is counted for how many people there are results.
      personIds: personIds.map((id, index) => (suppressed.has(id) ? hiddenId(index) : id)),
      credits: content.creditsConsumed,
    });
    const done = await kindsDone(transaction, attempt, kind, content, delivery.origin === 'poll');
    await sql`
      update attempts set awaits = array(select unnest(awaits) except select unnest(${done}::text[]))
      where attempt_id = ${attempt.attemptId}
    `.execute(transaction);
    await settleLateCredits(transaction, attempt.attemptId);
    return orphaned ? 'orphaned' : 'applied';
  });
}

/**
 * The attempt whose delivery it is: by the token in the address, unless the body bears the request id of another attempt
 * of ours. A request id of nobody contradicts nothing: the service has ids of its own for phone enrichment.
 */
async function ownerOf(
  transaction: Transaction<Tables>,
  attemptId: string,
  content: LateContent | undefined,
): Promise<string> {
  if (content?.requestId === undefined) return attemptId;
  const owners = await sql<{ attempt_id: string }>`
    select attempt_id from attempts where request_id = ${content.requestId} order by attempt_id = ${attemptId} desc limit 1
  `.execute(transaction);
  return owners.rows[0]?.attempt_id ?? attemptId;
}

async function lockAttempt(transaction: Transaction<Tables>, attemptId: string): Promise<LockedAttempt> {
  const locked = await sql<LockedAttempt>`
    select a.attempt_id as "attemptId", a.run_id as "runId", a.status, a.request_id as "requestId", a.found_ids as "foundIds", a.found_people as "foundPeople",
      a.awaits, r.options, r.finished_at is not null as "runEnded"
    from attempts a join runs r using (run_id) where a.attempt_id = ${attemptId} for update of a
  `.execute(transaction);
  const attempt = locked.rows[0];
  if (!attempt) throw new Error(`attempt ${attemptId} does not exist`);
  return attempt;
}

/** The contacts of a request, and of later requests that the service told to use this one's phones. */
async function readContacts(
  transaction: Transaction<Tables>,
  attemptId: string,
  personIds: readonly string[],
): Promise<NamedContact[]> {
  const contacts = await sql<NamedContact>`
    select coalesce(runs.source, 'generic') as source, r.contact_id as "contactId", p.person_id as "personId", p.run_id as "runId",
      p.row_number as "rowNumber", p.attempt_id as "attemptId", a.admitted_at::text as "askedAt",
      runs.undone_at is not null as undone,
      -- Confirmed by an answer: what only the CRM has may be somebody else's by now.
      array_remove(array[case when p.evidence = 'email' and r.other_emails is null then r.email end,
        case when c.person_id = p.person_id then c.email end], null) as emails,
      r.keys || array_remove(array['email:' || c.email, 'domain:' || r.domain, 'domain:' || c.organization_domain], null) as keys
    from attempt_people p join attempts a using (attempt_id)
    join run_rows r on r.run_id = p.run_id and r.row_number = p.row_number
    join runs on runs.run_id = p.run_id
    left join enriched_contacts c on c.source = coalesce(runs.source, 'generic') and c.contact_id = r.contact_id
    where p.outcome = 'enriched' and p.person_id is not null
      and (p.attempt_id = ${attemptId} or (p.person_id = any(${personIds}::text[]) and a.phones_with_earlier))
    order by source, "contactId", "rowNumber"
  `.execute(transaction);
  return contacts.rows;
}

/** A request that asked for one kind only has no other: what the body looks like decides only between both. */
function kindOf(content: LateContent, asked: readonly LateKind[]): 'phones' | 'waterfall' {
  const phones = asked.includes('phone');
  const waterfall = asked.some((kind) => kind !== 'phone');
  if (phones === waterfall) return content.kind;
  return phones ? 'phones' : 'waterfall';
}

/** What needs not be waited for any more. */
async function kindsDone(
  transaction: Transaction<Tables>,
  attempt: LockedAttempt,
  kind: 'phones' | 'waterfall',
  content: LateContent,
  polled: boolean,
): Promise<LateKind[]> {
  const delivered = await sql<{ people: number }>`
    select count(distinct person_id)::int as people from webhook_deliveries, unnest(person_ids) as person_id
    where attempt_id = ${attempt.attemptId} and subject like ${`${kind}:%`} and status in ('applied', 'orphaned')
  `.execute(transaction);
  const scope = { people: delivered.rows[0]?.people ?? 0, missing: content.unnamedMissing };
  const complete = isComplete(attempt.foundPeople, scope);
  if (kind === 'phones') return complete ? ['phone'] : [];
  // A waterfall need not name people for whom no vendor knew anything: a poll is the last word on it.
  return complete || polled ? waterfallKinds(content.targetFields) : [];
}

function reasonOf(
  attempt: LockedAttempt,
  content: LateContent,
  strangers: number,
  suppressed: number,
  undone: boolean,
): string | null {
  const isUnknown = attempt.status === 'unknown' && attempt.foundIds.length === 0;
  const parts = [
    ...(isUnknown
      ? ['the answer of its call was never recorded: nobody is known to whom this could belong']
      : []),
    ...(strangers > 0 && !isUnknown
      ? [
          `${strangers} of ${countedPeople(content.people.length)} ${nounFor(strangers, 'was', 'were')} not asked for, not found, or suppressed`,
        ]
      : []),
    ...(undone ? ['its run is undone: it is paid for, and changes no contact of it'] : []),
    ...(suppressed > 0 ? ['its body is not kept: it speaks of somebody on the suppression list'] : []),
    ...(content.unreadablePeople > 0 && !isUnknown
      ? [`${countedPeople(content.unreadablePeople)} cannot be read`]
      : []),
  ];
  return parts.length === 0 ? null : parts.join('; ');
}

interface Marking {
  readonly status: 'applied' | 'duplicate' | 'orphaned' | 'quarantined';
  readonly reason: string | null;
  readonly subject?: string;
  readonly personIds?: readonly string[];
  readonly credits?: Credits | undefined;
  /** What it says of somebody is not to be kept. */
  readonly dropsBody?: boolean;
}

async function markDelivery(
  transaction: Transaction<Tables>,
  deliveryId: string,
  attempt: LockedAttempt,
  marking: Marking,
): Promise<void> {
  await sql`
    update webhook_deliveries set status = ${marking.status}, reason = ${marking.reason}, applied_at = clock_timestamp(),
      late = ${attempt.runEnded}, attempt_id = ${attempt.attemptId}, run_id = ${attempt.runId},
      subject = ${marking.subject ?? null}, person_ids = ${marking.personIds ?? []}::text[],
      credits = ${marking.credits === undefined ? null : formatCredits(marking.credits)}::numeric,
      body = case when not ${marking.dropsBody ?? false} then body end
    where delivery_id = ${deliveryId}
  `.execute(transaction);
}
