import { competingContactReason } from './decide-person.ts';
import {
  areSamePerson,
  weighFit,
  type ComparedIdentity,
  type ComparedPerson,
  type Evidence,
  type Fit,
} from './identity-evidence.ts';
import type { AnsweredOutcome } from '../runs/outcome.ts';
import { rejectedFit, verdictOnPerson, type Verdicts } from './verdicts.ts';

/** Reason of `identity_mismatch` if an identifier shows that the row is a person of another answer. */
const knownReason = 'an identifier shows that this row is a person of another answer';

/** Reason of `identity_mismatch` if the operator has decided that the row is a person of another answer. */
const confirmedReason = 'a decision says that this row is a person of another answer';

/** The outcome of one row of a call. */
export type AlignedRow =
  | {
      readonly outcome: Extract<AnsweredOutcome, 'enriched'>;
      readonly matchIndex: number;
      readonly evidence: Evidence;
    }
  | { readonly outcome: Extract<AnsweredOutcome, 'not_found'> }
  | { readonly outcome: Extract<AnsweredOutcome, 'identity_mismatch'>; readonly reason: string };

export type Alignment = ReturnType<typeof alignRows>;

/** A row of a call, with the decision about its contact. */
export interface DecidedRow {
  readonly row: ComparedIdentity;
  readonly verdicts: Verdicts;
  readonly decision:
    /** The contact is a known person. `matchIndex` is undefined if only other answers contain this person. */
    | { readonly kind: 'person'; readonly matchIndex: number | undefined; readonly evidence: Evidence }
    | { readonly kind: 'refused'; readonly reason: string }
    | { readonly kind: 'none' };
}

/** A person of an answer. */
export interface PersonInAnswer {
  readonly person: ComparedPerson;
  readonly matchIndex: number;
}

/** The rows and the answer of one call, as `alignRows` compares them. */
interface Call {
  readonly rows: readonly DecidedRow[];
  readonly arrived: readonly PersonInAnswer[];
  /** True if there is one match per row. Positions only tell a match that does not fit its row from a missing match. */
  readonly inPlace: boolean;
}

/**
 * Gives each row of a call its outcome, so that a person's data never goes to another person's contact. The order of
 * `matches` is never evidence, because the service does not promise it. It only tells a refused match
 * (`identity_mismatch`) from a missing one (`not_found`), if there is one match per row.
 *
 * @param call.rows in the order of `details` in the request
 * @param call.arrived people of the answer, without nulls and people without data
 */
export function alignRows(call: Call) {
  const indexes = call.rows.flatMap(({ decision }) =>
    decision.kind === 'person' ? decision.matchIndex : [],
  );
  const given = call.arrived.filter(({ matchIndex }) => indexes.includes(matchIndex));
  const left = call.arrived.filter(({ person }) => !given.some((each) => areSamePerson(each.person, person)));
  return {
    /** Outcomes in the order of the rows. */
    rows: call.rows.map(({ decision }, row): AlignedRow => {
      if (decision.kind === 'refused') return mismatch(decision.reason);
      if (decision.kind === 'none') return whyNot(call, row, left);
      const { matchIndex, evidence } = decision;
      return matchIndex === undefined
        ? mismatch(evidence === 'confirmed' ? confirmedReason : knownReason)
        : { outcome: 'enriched', matchIndex, evidence };
    }),
    /** People of the answer who are assigned to no row. */
    unmatched: left.map((each) => ({ matchIndex: each.matchIndex, reason: reasonOf(call, each) })),
  };
}

/** How well a person fits the row at this index. A rejection by the operator overrides all evidence. */
function fitOf({ rows }: Call, index: number, person: ComparedPerson): Fit {
  const { row, verdicts } = rows[index]!;
  return verdictOnPerson(verdicts, person) === 'rejected' ? rejectedFit : weighFit(row, person);
}

/** Returns the outcome of a row without a person. @param left people of the answer who are not assigned to a row */
function whyNot(call: Call, row: number, left: readonly PersonInAnswer[]): AlignedRow {
  const fits = left.map(({ person }) => fitOf(call, row, person));
  const inPlace = left.findIndex(({ matchIndex }) => matchIndex === row);
  const doubtful =
    fits.find(isDoubtful) ?? (inPlace >= 0 && isForPlace(call, left[inPlace]!) ? fits[inPlace] : undefined);
  return doubtful ? mismatch(doubtOf(doubtful)) : { outcome: 'not_found' };
}

/** True if the match at the row's position was perhaps meant for this row, because it fits no other row. */
function isForPlace(call: Call, { person, matchIndex }: PersonInAnswer): boolean {
  return (
    call.inPlace && !call.rows.some((_, row) => row !== matchIndex && isDoubtful(fitOf(call, row, person)))
  );
}

/** Why a person of the answer is assigned to no row. */
function reasonOf(call: Call, { person, matchIndex }: PersonInAnswer): string {
  const doubts = call.rows.map((_, row) => fitOf(call, row, person));
  const doubtful = doubts.find(isDoubtful) ?? (call.inPlace ? doubts[matchIndex] : undefined);
  return doubtful ? doubtOf(doubtful) : 'the person fits no row of the call';
}

/** True if a person anywhere in the answer was perhaps meant for the row. */
function isDoubtful(fit: Fit): boolean {
  return fit.strength !== 'none' || fit.sameName || fit.sharesIdentifier;
}

/** Why a row does not get a person who fits in part, or who fits but belongs to another contact. */
function doubtOf(fit: Fit): string {
  return fit.strength === 'none' ? fit.reason : competingContactReason;
}

function mismatch(reason: string): AlignedRow {
  return { outcome: 'identity_mismatch', reason };
}
