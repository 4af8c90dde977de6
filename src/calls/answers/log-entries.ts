import type { ClosedAttempt } from '../../ledger/close-attempt.ts';
import { withdrawalOf } from '../../people/contacts/apply-changes.ts';
import type { LogEntries } from '../../people/log/append-to-log.ts';
import { personKey } from '../../people/log/observation.ts';
import type { AnsweredRow, UnmatchedPerson } from './answered-rows.ts';
import type { Withdrawal } from './withdrawals.ts';

/**
 * The entries of the log: the observation of each person, and the matches of contacts with these people. A person
 * without a row was paid for as well: a contact that is shown to be that person gets the data, and other contacts that
 * could be that person lose theirs.
 */
export function logEntriesOf(answered: {
  readonly attemptId: string;
  readonly source: string;
  readonly attempt: ClosedAttempt;
  readonly rows: readonly AnsweredRow[];
  readonly others: readonly UnmatchedPerson[];
  readonly withdrawals: readonly Withdrawal[];
  readonly newKeys: ReadonlySet<string>;
}): LogEntries {
  const { attemptId, source, attempt, newKeys } = answered;
  const call = { run_id: attempt.runId, attempt_id: attemptId };
  const found = answered.rows.flatMap(({ facts, ...row }) =>
    facts
      ? [{ ...row, facts, key: personKey(facts.person_id, { ...row, runId: attempt.runId, attemptId }) }]
      : [],
  );
  return {
    // Two rows can have the same person.
    observations: [...new Map([...answered.others, ...found].map((each) => [each.key, each])).values()].map(
      ({ facts, key }) => ({
        ...facts,
        ...call,
        person_key: key,
        is_new: newKeys.has(key),
        kind: 'answer',
        asked_at: attempt.admittedAt,
        delivery_id: null,
      }),
    ),
    matches: [
      ...answered.withdrawals.map(({ contact, reason }) => withdrawalOf(contact, reason, attempt.runId)),
      ...found.map(({ key, contactId, rowNumber, evidence, matchKeys }) => ({
        ...call,
        source,
        contact_id: contactId,
        person_key: key,
        evidence: evidence ?? '',
        asked: true,
        row_number: rowNumber,
        match_keys: matchKeys,
        decided_at: attempt.admittedAt,
      })),
    ],
  };
}
