import type { Kysely } from 'kysely';
import { alignMatches } from '../../domain/identity/alignment.ts';
import type { Tables } from '../../db/schema.ts';
import { answeredRows, type AnswerToRecord } from './answered-rows.ts';
import { arrivedPeople } from './arrived-people.ts';
import { readElsewhere, type AnsweredCall } from './known-elsewhere.ts';
import { findWithdrawals } from './withdrawals.ts';
import { withOwnIds } from './with-own-ids.ts';

/** An answer, compared with the rows of its call and with what other answers and rows say. */
export type ComparedAnswer = Awaited<ReturnType<typeof compareAnswer>>;

/**
 * Decides which row gets which person of an answer, and which other contacts lose theirs. Writes nothing.
 *
 * @returns `answer` with the ids under which the warehouse has its people
 */
export async function compareAnswer(
  database: Kysely<Tables>,
  call: Omit<AnsweredCall, 'arrived'>,
  received: AnswerToRecord,
) {
  const { service, people } = call;
  const { matches, newKeys } = await withOwnIds(database, service, received.matches);
  const answer = { ...received, matches };
  const answered = { ...call, arrived: arrivedPeople(matches) };
  const elsewhere = await readElsewhere(database, answered);
  const identities = people.map((person) => person.identity);
  const alignment = alignMatches(identities, matches, elsewhere);
  const { rows, unmatched } = answeredRows(people, alignment, answer);
  const accepted = rows.flatMap(({ outcome, contactId }) => (outcome === 'enriched' ? [contactId] : []));
  const withdrawals = await findWithdrawals(database, answered, new Set(accepted));
  return { answer, newKeys, alignment, rows, unmatched, withdrawals };
}
