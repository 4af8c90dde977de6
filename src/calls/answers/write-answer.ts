import { sql, type Transaction } from 'kysely';
import type { Tables } from '../../db/schema.ts';
import type { Alignment } from '../../domain/identity/alignment.ts';
import { askedFieldGroups, type AskedExtras } from '../../domain/late-results/delivery-kinds.ts';
import { formatCredits } from '../../domain/money/decimal.ts';
import type { SettledCredits } from '../../ledger/close-attempt.ts';
import { logJson, type LogEntries } from '../../people/log/append-to-log.ts';
import { keysLearned } from '../../people/known/lookup-history.ts';
import type { AnsweredRow, AnswerToRecord, UnmatchedPerson } from './answered-rows.ts';

/** What an answer brought, without people on the suppression list. */
export interface AnswerToWrite {
  readonly attemptId: string;
  readonly asked: AskedExtras & { readonly service: string };
  /** Null: the answer contains a suppressed person, and its body is not kept. */
  readonly bodyGzip: Buffer | null;
  readonly rows: readonly AnsweredRow[];
  /** People of the answer without a row. */
  readonly others: readonly UnmatchedPerson[];
  readonly quarantined: ReturnType<typeof quarantinedPeople>;
  readonly entries: LogEntries;
  /** Undefined: the credits stay as they are. */
  readonly credits: SettledCredits | undefined;
}

/**
 * Writes the body, the outcomes of the rows, the log with its projections, the lookup history and the credits. The
 * function `write_answer` of the database does it in one statement.
 */
export async function writeAnswer(
  transaction: Transaction<Tables>,
  { attemptId, asked, bodyGzip, rows, others, quarantined, entries, credits }: AnswerToWrite,
): Promise<void> {
  const answered = rows.map((row) => ({
    row_number: row.rowNumber,
    outcome: row.outcome,
    is_lookup: row.isLookup,
    reason: row.reason,
    person_id: row.fields?.person_id ?? null,
    evidence: row.evidence,
  }));
  const learned = [
    ...rows.flatMap(({ rowNumber, fields, facts }) =>
      [...new Set([...keysLearned(fields), ...(facts?.identity_keys ?? [])])].map((key) =>
        learnedKey(key, rowNumber),
      ),
    ),
    ...others.flatMap(({ facts }) =>
      facts.person_id === null ? [] : facts.identity_keys.map((key) => learnedKey(key, null)),
    ),
  ];
  const log = logJson(entries.observations);
  await sql`
    select write_answer(${attemptId}, ${asked.service}, ${bodyGzip}::bytea,
      ${JSON.stringify(answered)}::jsonb, ${JSON.stringify(quarantined)}::jsonb,
      ${log.observations}::jsonb, ${log.organizations}::jsonb, ${JSON.stringify(entries.matches)}::jsonb,
      ${JSON.stringify(learned)}::jsonb, ${askedFieldGroups(asked)}::text[],
      ${credits?.released ?? null}::numeric, ${credits ? formatCredits(credits.consumed) : null}::numeric)
  `.execute(transaction);
}

/** People of an answer who match no row, with the reasons. */
export function quarantinedPeople(alignment: Alignment, unreadable: AnswerToRecord['unreadableMatches']) {
  return [
    ...alignment.quarantined.map(({ matchIndex, reason }) => ({ match_index: matchIndex, reason })),
    ...unreadable.map(({ index, reason }) => ({ match_index: index, reason: `unreadable: ${reason}` })),
  ];
}

function learnedKey(key: string, rowNumber: number | null) {
  return { identity_key: key, row_number: rowNumber };
}
