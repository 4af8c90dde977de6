import type { AlignedRow, Alignment } from '../../domain/identity/alignment.ts';
import { contactFields, type ContactFields } from '../../domain/warehouse/contact-fields.ts';
import { keepsMatchKeys } from '../../domain/identity/identity-evidence.ts';
import { matchKeysOfMatch } from '../../domain/identity/match-keys.ts';
import type { OpenPerson } from '../batches/open-people.ts';
import { keyOfId, keyOfStranger, factsOfAnswer, type ObservedFacts } from '../../people/log/observation.ts';
import type { BulkAnswer } from '../../service/answers/bulk-answer.ts';

/** The parts of a bulk call's answer that the product records. */
export type AnswerToRecord = Pick<
  BulkAnswer,
  'httpStatus' | 'requestId' | 'matches' | 'unreadableMatches' | 'creditsConsumed' | 'creditsProblem' | 'raw'
> &
  Partial<
    Pick<BulkAnswer, 'partial' | 'uniqueEnrichedRecords' | 'missingRecords' | 'phoneEnrichment' | 'waterfall'>
  >;

/** A row of the export with its outcome, in the form of the tables. */
export interface AnsweredRow {
  readonly rowNumber: number;
  readonly contactId: string;
  readonly outcome: AlignedRow['outcome'] | 'suppressed';
  /** Whether the keys of the row count as asked for. Not those of a row that the suppression list has. */
  readonly isLookup: boolean;
  readonly reason: string | null;
  readonly evidence: string | null;
  /** With weak evidence, and of decisions: `matchKeysOfMatch`. */
  readonly matchKeys: readonly number[] | null;
  readonly matchIndex: number | undefined;
  readonly fields: ContactFields | undefined;
  readonly facts: ObservedFacts | undefined;
}

/** A person in the answer without a row: paid for, and possibly another contact. */
export interface UnmatchedPerson {
  readonly matchIndex: number;
  /** In the log. */
  readonly key: string;
  readonly facts: ObservedFacts;
}

/** Turns an aligned answer into one result for each requested row, and lists the people without a row. */
export function answeredRows(
  people: readonly OpenPerson[],
  alignment: Alignment,
  answer: AnswerToRecord,
): { readonly rows: AnsweredRow[]; readonly unmatched: UnmatchedPerson[] } {
  const inPlace = answer.matches.length === people.length;
  const unreadable = new Set(inPlace ? answer.unreadableMatches.map(({ index }) => index) : []);
  const isCut = answer.unreadableMatches.some(({ index }) => index >= answer.matches.length);
  const unmatched = alignment.quarantined.flatMap(({ matchIndex }) => {
    const person = answer.matches[matchIndex];
    if (!person) return [];
    const unmatchedFacts = factsOfAnswer(person, answer.waterfall);
    const id = unmatchedFacts.person_id;
    const key = id === null ? keyOfStranger(person) : keyOfId(id);
    return [{ matchIndex, key, facts: unmatchedFacts }];
  });
  const rows = people.map(({ rowNumber, contactId, identity }, index): AnsweredRow => {
    const row = alignment.rows[index]!;
    const answered = {
      rowNumber,
      contactId,
      outcome: row.outcome,
      isLookup: true,
      reason: null,
      evidence: null,
      matchKeys: null,
      matchIndex: undefined,
      fields: undefined,
      facts: undefined,
    };
    switch (row.outcome) {
      case 'enriched': {
        const { person, matchIndex, evidence } = row;
        const matchKeys = keepsMatchKeys(evidence) ? matchKeysOfMatch(identity, person) : null;
        const fields = contactFields(person);
        return {
          ...answered,
          evidence,
          matchKeys,
          matchIndex,
          fields,
          facts: factsOfAnswer(person, answer.waterfall),
        };
      }
      case 'identity_mismatch':
        return { ...answered, reason: row.reason };
      case 'not_found':
        // The service returned something for this row and may have billed it, so the row is no `not_found`.
        return isCut || unreadable.has(index)
          ? { ...answered, outcome: 'identity_mismatch', reason: 'the service returned no readable person' }
          : answered;
    }
  });
  return { rows, unmatched };
}
