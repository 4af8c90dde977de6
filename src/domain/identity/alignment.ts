import { contestedReason } from './decide-person.ts';
import {
  isOnePerson,
  weigh,
  type ComparedIdentity,
  type ComparedPerson,
  type Evidence,
  type Fit,
} from './identity-evidence.ts';
import type { AnsweredOutcome } from '../runs/outcome.ts';
import { rejectedFit, verdictOn, type Verdicts } from './verdicts.ts';

/** Reason of `identity_mismatch` if another answer shows who the row is. */
const knownReason = 'an identifier shows that this row is a person of another answer';

/** Reason of `identity_mismatch` if a decision of the operator shows who the row is. */
const confirmedReason = 'a decision says that this row is a person of another answer';

/** The result of one requested row. */
export type AlignedRow =
  | {
      readonly outcome: Extract<AnsweredOutcome, 'enriched'>;
      readonly matchIndex: number;
      readonly evidence: Evidence;
    }
  | { readonly outcome: Extract<AnsweredOutcome, 'not_found'> }
  | { readonly outcome: Extract<AnsweredOutcome, 'identity_mismatch'>; readonly reason: string };

export type Alignment = ReturnType<typeof alignRows>;

/** A requested row, with the decision about its contact. */
export interface DecidedRow {
  readonly row: ComparedIdentity;
  readonly verdicts: Verdicts;
  readonly decision:
    /** `matchIndex` undefined: only other answers have the person. */
    | { readonly kind: 'person'; readonly matchIndex: number | undefined; readonly evidence: Evidence }
    | { readonly kind: 'refused'; readonly reason: string }
    | { readonly kind: 'none' };
}

/** A person of an answer. */
export interface ArrivedPerson {
  readonly person: ComparedPerson;
  readonly matchIndex: number;
}

/** The rows and the answer of a call. */
interface Call {
  readonly rows: readonly DecidedRow[];
  readonly arrived: readonly ArrivedPerson[];
  /** True if the answer has one match per row. */
  readonly inPlace: boolean;
}

/**
 * Gives each requested row its outcome. Promise 5: a person's data never goes to another person's contact.
 *
 * The service does not promise that `matches` aligns with `details`: misses are null or missing, the order changes, and
 * other people are added. The order is never evidence. If the answer has one match per row, the order only helps to
 * distinguish a row with a refused match (`identity_mismatch`) from a row without a match (`not_found`).
 *
 * @param call.rows in the order of `details`
 * @param call.arrived the people of the answer, without nulls and people without data
 */
export function alignRows(call: Call) {
  const indexes = call.rows.flatMap(({ decision }) =>
    decision.kind === 'person' ? decision.matchIndex : [],
  );
  const given = call.arrived.filter(({ matchIndex }) => indexes.includes(matchIndex));
  const left = call.arrived.filter(({ person }) => !given.some((each) => isOnePerson(each.person, person)));
  return {
    /** In the order of the requested rows. */
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

function fitOf({ rows }: Call, index: number, person: ComparedPerson): Fit {
  const { row, verdicts } = rows[index]!;
  return verdictOn(verdicts, person) === 'rejected' ? rejectedFit : weigh(row, person);
}

/** @param left people of the answer who are not assigned to a row */
function whyNot(call: Call, row: number, left: readonly ArrivedPerson[]): AlignedRow {
  const fits = left.map(({ person }) => fitOf(call, row, person));
  const inPlace = left.findIndex(({ matchIndex }) => matchIndex === row);
  const doubtful =
    fits.find(isDoubtful) ?? (inPlace >= 0 && isForPlace(call, left[inPlace]!) ? fits[inPlace] : undefined);
  return doubtful ? mismatch(doubtOf(doubtful)) : { outcome: 'not_found' };
}

/** Whether the match at the row's position was perhaps meant for the row, because it fits no other row. */
function isForPlace(call: Call, { person, matchIndex }: ArrivedPerson): boolean {
  return (
    call.inPlace && !call.rows.some((_, row) => row !== matchIndex && isDoubtful(fitOf(call, row, person)))
  );
}

function reasonOf(call: Call, { person, matchIndex }: ArrivedPerson): string {
  const doubts = call.rows.map((_, row) => fitOf(call, row, person));
  const doubtful = doubts.find(isDoubtful) ?? (call.inPlace ? doubts[matchIndex] : undefined);
  return doubtful ? doubtOf(doubtful) : 'the person fits no row of the call';
}

/** Whether a person anywhere in the answer was perhaps meant for the row. */
function isDoubtful(fit: Fit): boolean {
  return fit.strength !== 'none' || fit.sameName || fit.sharesIdentifier;
}

function doubtOf(fit: Fit): string {
  return fit.strength === 'none' ? fit.reason : contestedReason;
}

function mismatch(reason: string): AlignedRow {
  return { outcome: 'identity_mismatch', reason };
}
