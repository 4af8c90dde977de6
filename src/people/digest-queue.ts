import { sql, type RawBuilder, type Transaction } from 'kysely';
import type { Warehouse } from '../db/database.ts';
import type { Tables } from '../db/schema.ts';
import { unnestContacts, type ContactKey } from '../keys/contact-key.ts';
import type { BulkAnswer } from '../service/answers/bulk-answer.ts';
import type { PersonReference } from './people-tables.ts';

/** True if the answer of a call no longer waits in the digest queue: it is digested or quarantined. */
export async function isDigested(transaction: Transaction<Tables>, attemptId: string): Promise<boolean> {
  const { rows } = await sql`
    select from digest_queue where kind = 'answer' and problem is null and owner = ${attemptId} limit 1
  `.execute(transaction);
  return rows.length === 0;
}

/**
 * SQL statement that queues stored answers for the digest, the step that writes the people of answers to contacts.
 *
 * @param attemptIds query of one column
 */
export function queueAnswers(attemptIds: RawBuilder<unknown>): RawBuilder<unknown> {
  return sql`insert into digest_queue (kind, owner) select 'answer', * from (${attemptIds}) stored`;
}

/** Queues contacts, so that the next digest decides again which person each of them is. */
export async function queueContacts(
  transaction: Transaction<Tables>,
  contacts: readonly ContactKey[],
): Promise<void> {
  await sql`
    insert into digest_queue (kind, owner, name)
    select distinct 'contact', source, contact_id from ${unnestContacts(contacts)} as n (source, contact_id)
    order by 2, 3
  `.execute(transaction);
}

/** Queues people, so that the next digest recomputes their values and decides again about their contacts. */
export async function queuePeople(
  transaction: Transaction<Tables>,
  people: readonly PersonReference[],
): Promise<void> {
  await sql`
    insert into digest_queue (kind, owner, name)
    select distinct 'person', service, person_key
    from unnest(${people.map(({ service }) => service)}::text[], ${people.map(({ personKey }) => personKey)}::text[])
      as n (service, person_key)
    order by 2, 3
  `.execute(transaction);
}

/**
 * Queues the people with these match keys for the digest, because contacts can newly compete for these people.
 *
 * @param keys query of one column
 */
export async function queuePeopleWithKeys(
  transaction: Transaction<Tables>,
  keys: RawBuilder<unknown>,
): Promise<void> {
  await sql`
    insert into digest_queue (kind, owner, name)
    select distinct 'person', p.service, p.person_key
    from (${keys}) as own (key)
    join person_keys p on p.key = own.key
    order by 2, 3
  `.execute(transaction);
}

/** The parts of a bulk call's answer that the digest reads. */
export type DigestibleAnswer = Pick<BulkAnswer, 'matches' | 'unreadableMatches'> &
  Partial<Pick<BulkAnswer, 'partial' | 'waterfall'>>;

/**
 * Answers that this process has stored and not yet digested. The digest takes them from here instead of reading their
 * stored bodies.
 */
const inMemory = new WeakMap<Warehouse['database'], Map<string, DigestibleAnswer>>();

/** Keeps an answer in memory until this process has digested it. */
export function cacheAnswer(
  database: Warehouse['database'],
  attemptId: string,
  answer: DigestibleAnswer,
): void {
  const kept = inMemory.get(database) ?? new Map<string, DigestibleAnswer>();
  inMemory.set(database, kept.set(attemptId, answer));
}

/** The answer of a call from the memory of this process; undefined: the answer must be read from its stored body. */
export function cachedAnswer(
  database: Warehouse['database'],
  attemptId: string,
): DigestibleAnswer | undefined {
  return inMemory.get(database)?.get(attemptId);
}

/** Removes an answer from the cache of this process. */
export function uncacheAnswer(database: Warehouse['database'], attemptId: string): void {
  inMemory.get(database)?.delete(attemptId);
}
