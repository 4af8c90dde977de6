import { promisify } from 'node:util';
import { gunzip } from 'node:zlib';
import { sql, type Transaction } from 'kysely';
import { memoizePerObject } from '../domain/compute-once.ts';
import { peoplePerCall } from '../domain/runs/batching.ts';
import { identityOfColumns, type IdentityColumns } from '../domain/identity/identity.ts';
import { isEmptyPerson, toComparedIdentity, toComparedPerson } from '../domain/identity/identity-evidence.ts';
import { requestedFieldGroups, withoutFieldGroups } from '../domain/late-results/delivery-kinds.ts';
import type { RunOptions } from '../domain/runs/run-options.ts';
import { identityCells } from '../db/expressions.ts';
import type { Warehouse } from '../db/database.ts';
import type { Tables } from '../db/schema.ts';
import { readBulkAnswer } from '../service/answers/bulk-answer.ts';
import { serviceOperations } from '../service/client.ts';
import { cachedAnswer, type DigestibleAnswer } from './digest-queue.ts';
import { factsOfAnswer, personKeyOfId } from './observation.ts';

/** A call with its stored answer. */
export type AnsweredCall = Awaited<ReturnType<typeof readAnsweredCalls>>[number];

/** A row of the export that a call was made for. */
export type RequestedRow = AnsweredCall['rows'][number];

/** A person in the answer to a call. */
export type PersonInAnswer = AnsweredCall['arrived'][number];

/**
 * The suppressed rows and people of one call. Rows are found by row number, people by their index in `matches` of the
 * answer. Suppressed means on the opt-out list: nothing about such a person is written.
 */
export interface SuppressedInCall {
  /**
   * `matchIndex` is the suppressed person of the answer who fits the row. It is undefined if the row itself is on the
   * suppression list.
   */
  readonly rows: ReadonlyMap<number, { readonly matchIndex: number | undefined; readonly isWeak: boolean }>;
  /** Indexes of suppressed people in `matches` of the answer, with or without a row. */
  readonly matches: ReadonlySet<number>;
}

interface CallRow {
  readonly attemptId: string;
  readonly runId: string;
  readonly source: string | null;
  readonly options: RunOptions;
  /** Field groups that this batch of the run did not request; null: it requested all of the run's options. */
  readonly leftOut: readonly string[] | null;
  /** Time when the call was admitted, as text with microseconds. The answer gets this time as its date. */
  readonly askedAt: string;
  readonly askedAtMicroseconds: number;
  readonly httpStatus: number;
  /** Rows of the export in the call, with their identifying cells. */
  readonly rows: readonly (IdentityColumns & {
    readonly rowNumber: number;
    readonly contactId: string;
    readonly outcome: string | null;
  })[];
}

/** Reads calls with their stored answers, in the order of `attemptIds`. Calls without a stored answer are left out. */
export async function readAnsweredCalls(
  transaction: Transaction<Tables>,
  database: Warehouse['database'],
  attemptIds: readonly string[],
) {
  if (attemptIds.length === 0) return [];
  const { rows } = await sql<CallRow>`
    select a.attempt_id as "attemptId", a.run_id as "runId", u.source, u.options, a.admitted_at::text as "askedAt",
      (extract(epoch from a.admitted_at) * 1000000)::float8 as "askedAtMicroseconds", a.http_status as "httpStatus",
      (
        select p.left_out
        from run_people p
        where p.run_id = a.run_id
          and p.position between (a.batch - 1) * ${peoplePerCall} and a.batch * ${peoplePerCall} - 1
        limit 1
      ) as "leftOut",
      (
        select coalesce(jsonb_agg(to_jsonb(cells) order by place), '[]')
        from (
          select n.detail_index as place, r.row_number as "rowNumber", r.contact_id as "contactId", r.outcome,
            ${identityCells('r')}
          from attempt_people n
          join run_rows r on r.run_id = n.run_id and r.row_number = n.row_number
          where n.attempt_id = a.attempt_id
        ) cells
      ) as rows
    from attempts a
    join runs u using (run_id)
    where a.attempt_id = any(${attemptIds}::text[])
  `.execute(transaction);
  const answers = await readAnswers(transaction, database, rows);
  const calls = rows.flatMap((call) => {
    const answer = answers.get(call.attemptId);
    if (!answer) return [];
    const { options, source, leftOut, rows: asked, httpStatus: _, ...known } = call;
    return {
      ...known,
      service: options.service,
      fieldGroups: requestedFieldGroups(withoutFieldGroups(options, leftOut ?? [])),
      answer,
      /** People in the answer, without those that have no data. */
      arrived: peopleInAnswer(answer),
      /** Rows of the call, in the order of `details` in the request. */
      rows: asked.map(({ rowNumber, contactId, outcome, ...cells }) => ({
        source: source ?? 'generic',
        contactId,
        rowNumber,
        compared: toComparedIdentity(identityOfColumns(cells)),
        /** True if the row was erased or suppressed while the call was in flight. */
        isSuppressed: outcome === 'suppressed',
      })),
    };
  });
  return calls.toSorted(
    (one, other) => attemptIds.indexOf(one.attemptId) - attemptIds.indexOf(other.attemptId),
  );
}

/**
 * Returns the answers to calls: from the memory of this process, or else from the stored bodies.
 *
 * @throws ServiceFailure if a stored body is not an answer of the service
 */
async function readAnswers(
  transaction: Transaction<Tables>,
  database: Warehouse['database'],
  calls: readonly CallRow[],
): Promise<ReadonlyMap<string, DigestibleAnswer>> {
  const answers = new Map<string, DigestibleAnswer>();
  for (const { attemptId } of calls) {
    const answer = cachedAnswer(database, attemptId);
    if (answer) answers.set(attemptId, answer);
  }
  const missing = new Map(calls.map(({ attemptId, httpStatus }) => [attemptId, httpStatus]));
  for (const attemptId of answers.keys()) missing.delete(attemptId);
  if (missing.size === 0) return answers;
  const stored = await sql<{ attemptId: string; compressed: Buffer }>`
    select attempt_id as "attemptId", body_gzip as compressed
    from raw_answers
    where attempt_id = any(${[...missing.keys()]}::text[])
  `.execute(transaction);
  for (const { attemptId, compressed } of stored.rows) {
    const body = await promisify(gunzip)(compressed);
    const answer = { status: missing.get(attemptId)!, headers: {}, body, receivedAt: 0 };
    answers.set(attemptId, readBulkAnswer(answer, serviceOperations.bulkMatch));
  }
  return answers;
}

/**
 * Reads the people of an answer, once per answer. Callers do this before they lock the digest, because other digests
 * wait for the lock.
 */
export const peopleInAnswer = memoizePerObject(({ matches, waterfall }: DigestibleAnswer) =>
  matches.flatMap((person, matchIndex) => {
    if (person === null || isEmptyPerson(person)) return [];
    const { personId } = toComparedPerson(person);
    /** Undefined if the service gives no id for the person. */
    const personKey = personId === undefined ? undefined : personKeyOfId(personId);
    return { person, matchIndex, personKey, facts: factsOfAnswer(person, waterfall) };
  }),
);
