import { sql, type Kysely, type Transaction } from 'kysely';
import type { Warehouse } from '../db/database.ts';
import { isTransientDatabaseError, isTransactionConflict } from '../db/postgres-errors.ts';
import type { Tables } from '../db/schema.ts';
import { peopleInAnswer } from './answered-call.ts';
import { digestFacts } from './digest-facts.ts';
import { uncacheAnswer, cachedAnswer } from './digest-queue.ts';

/** An entry of the digest queue: an answer, a contact or a person with new facts. */
interface QueueEntry {
  readonly entryId: string;
  readonly kind: 'answer' | 'contact' | 'person';
  readonly owner: string;
  readonly name: string;
}

/**
 * The maximum number of queue entries per step and, below, of answers among them. One step holds the lock of the digest
 * for about 0.4 s.
 */
const entriesPerStep = 500;
const answersPerStep = 20;

/**
 * Digests the queue: decides for each queued answer, contact and person which contacts get which person. Only one
 * digest runs at a time; a caller that finds another one running waits until its own entries are done. After a crash,
 * the next digest starts over. An entry that fails is quarantined with its reason, and the digest continues.
 *
 * @param signal aborts between two steps
 * @param progress receives the number of finished entries
 * @returns `filled`: contacts that got a known person without a call; `withdrawn`: contacts that lost their person;
 *   `complete`: false after an abort
 */
export async function digest(
  { database }: Pick<Warehouse, 'database'>,
  signal?: AbortSignal,
  progress: (entries: number) => void = () => {},
): Promise<{ readonly filled: number; readonly withdrawn: number; readonly complete: boolean }> {
  const total = { filled: 0, withdrawn: 0 };
  let done = 0;
  // Entries that others queue after this moment have higher ids. The caller does not wait for them.
  const { rows } = await sql<{ last: string | null }>`
    select max(entry_id)::text as last from digest_queue where problem is null
  `.execute(database);
  const { last } = rows[0]!;
  let complete = last === null;
  while (!complete && signal?.aborted !== true) {
    const step = await digestStep(database);
    total.filled += step.filled;
    total.withdrawn += step.withdrawn;
    progress((done += step.entries));
    complete = step.upTo >= Number(last);
  }
  return { ...total, complete };
}

/** The running digest of this process, and the next digest, which starts when the running one ends. */
interface SharedDigests {
  running: Promise<unknown>;
  waiting: Promise<unknown> | undefined;
}

const sharedDigests = new WeakMap<Warehouse['database'], SharedDigests>();

/**
 * Digests the caller's entries with the next digest of this process, which all callers share that wait for the running
 * one.
 */
export async function digestTogether(warehouse: Pick<Warehouse, 'database'>): Promise<void> {
  const { database } = warehouse;
  const shared = sharedDigests.get(database) ?? { running: Promise.resolve(), waiting: undefined };
  sharedDigests.set(database, shared);
  const digestNow = async (): Promise<void> => {
    shared.running = shared.waiting!;
    shared.waiting = undefined;
    await digest(warehouse);
  };
  shared.waiting ??= shared.running.then(digestNow, digestNow);
  await shared.waiting;
}

/** Digests a stored answer together with all other answers that wait in this process. */
export async function digestAnswer(warehouse: Warehouse, attemptId: string): Promise<void> {
  try {
    // The answer is read before the lock is taken, because other digests wait for the lock.
    const answer = cachedAnswer(warehouse.database, attemptId);
    if (answer) peopleInAnswer(answer);
    await digestTogether(warehouse);
  } finally {
    // Another process may have digested the answer from its stored body, so the answer is removed from memory in any
    // case.
    uncacheAnswer(warehouse.database, attemptId);
  }
}

/** Digests the oldest entries. A deadlock repeats the step; after another failure, it digests one entry. */
async function digestStep(database: Kysely<Tables>) {
  for (;;)
    try {
      return await withDigestLocked(database, async (transaction) => digestNext(transaction, database));
    } catch (error) {
      if (isTransactionConflict(error)) continue;
      if (isTransientDatabaseError(error)) throw error;
      return digestOldest(database);
    }
}

/** Runs a transaction that has locked the suppression list and the digest. */
export async function withDigestLocked<Result>(
  database: Kysely<Tables>,
  work: (transaction: Transaction<Tables>) => Promise<Result>,
): Promise<Result> {
  return database.transaction().execute(async (transaction) => {
    await lockDigest(transaction);
    return work(transaction);
  });
}

/** Locks the suppression list, and waits until no other transaction digests. */
export async function lockDigest(transaction: Transaction<Tables>): Promise<void> {
  await sql`select lock_digest()`.execute(transaction);
}

/** Digests the oldest entries in a transaction that holds the lock of the digest. */
async function digestNext(transaction: Transaction<Tables>, database: Kysely<Tables>) {
  const entries = await takeOldest(transaction, entriesPerStep);
  return {
    ...(await digestEntries(transaction, database, entries)),
    entries: entries.length,
    /** Every entry up to this id is done. */
    upTo: entries.length === 0 ? Infinity : Number(entries.at(-1)!.entryId),
  };
}

/** Takes the oldest entries out of the queue, among them at most `answersPerStep` answers. */
async function takeOldest(transaction: Transaction<Tables>, limit: number): Promise<QueueEntry[]> {
  const { rows } = await sql<QueueEntry>`
    with oldest as materialized (
      select entry_id, count(*) filter (where kind = 'answer') over (order by entry_id) as answers
      from (select * from digest_queue where problem is null order by entry_id limit ${limit}) queued
    ), taken as (
      delete from digest_queue
      where entry_id = any(array(select entry_id from oldest where answers <= ${answersPerStep}))
      returning entry_id, kind, owner, name
    )
    select entry_id as "entryId", kind, owner, name from taken order by entry_id
  `.execute(transaction);
  return rows;
}

/** Digests these entries together. A contact has its source as `owner`, a person its service, an answer its attempt. */
async function digestEntries(
  transaction: Transaction<Tables>,
  database: Kysely<Tables>,
  entries: readonly QueueEntry[],
) {
  if (entries.length === 0) return { filled: 0, withdrawn: 0 };
  const named = (kind: QueueEntry['kind']) => entries.filter((entry) => entry.kind === kind);
  const { filled, withdrawn } = await digestFacts(transaction, database, {
    answers: named('answer').map(({ owner }) => owner),
    contacts: named('contact').map(({ owner, name }) => ({ source: owner, contactId: name })),
    people: named('person').map(({ owner, name }) => ({ service: owner, personKey: name })),
  });
  return { filled, withdrawn };
}

/** Digests the oldest entry alone. If the entry fails, the same transaction quarantines it. */
async function digestOldest(database: Kysely<Tables>) {
  return withDigestLocked(database, async (transaction) => {
    await sql`savepoint entry`.execute(transaction);
    const [entry] = await takeOldest(transaction, 1);
    if (!entry) return { filled: 0, withdrawn: 0, entries: 0, upTo: Infinity };
    const done = { entries: 1, upTo: Number(entry.entryId) };
    try {
      return { ...(await digestEntries(transaction, database, [entry])), ...done };
    } catch (error) {
      if (isTransientDatabaseError(error)) throw error;
      await sql`rollback to savepoint entry`.execute(transaction);
      await quarantineEntry(transaction, entry, error);
      return { filled: 0, withdrawn: 0, ...done };
    }
  });
}

/**
 * Quarantines a queue entry that failed. The rows of its answer become `unknown`: the answer is paid for and stored,
 * and no run pays for these people again automatically. `enrich rebuild` tries the entry again.
 */
async function quarantineEntry(
  transaction: Transaction<Tables>,
  entry: QueueEntry,
  error: unknown,
): Promise<void> {
  const name = error instanceof Error ? error.name : 'unknown error';
  await sql`
    update digest_queue set problem = ${`it cannot be digested (${name})`} where entry_id = ${entry.entryId}::bigint
  `.execute(transaction);
  if (entry.kind !== 'answer') return;
  await sql`
    update run_rows r
    set outcome = 'unknown', reason = ${`the answer of attempt ${entry.owner} is stored and cannot be digested`}
    from attempt_people p
    where p.attempt_id = ${entry.owner} and r.run_id = p.run_id and r.row_number = p.row_number and r.outcome is null
  `.execute(transaction);
}

/** Returns all quarantined entries to the digest queue. @returns the number of these entries */
export async function retryFailedEntries({ database }: Warehouse): Promise<number> {
  const retried = await sql`update digest_queue set problem = null where problem is not null`.execute(
    database,
  );
  return Number(retried.numAffectedRows ?? 0n);
}

/**
 * Digests what a transaction has queued within the same transaction, for example for a preview. The caller holds the
 * lock of the digest.
 */
export async function digestQueued(
  transaction: Transaction<Tables>,
  database: Warehouse['database'],
): Promise<void> {
  for (;;) {
    const { entries } = await digestNext(transaction, database);
    if (entries === 0) return;
  }
}
