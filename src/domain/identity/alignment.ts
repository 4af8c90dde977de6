import type { Identity } from './identity.ts';
import { decidePerson, contestedReason, type Candidate, type PersonDecision } from './decide-person.ts';
import {
  isOnePerson,
  isStub,
  readyIdentity,
  readyPerson,
  weigh,
  type ComparedIdentity,
  type ComparedPerson,
  type Evidence,
  type Fit,
} from './identity-evidence.ts';
import type { AnsweredOutcome } from '../runs/outcome.ts';
import type { Person } from './person.ts';
import { rejectedFit, verdictOn, type Verdicts } from './verdicts.ts';

/** Reason of `identity_mismatch` for a row whose person is known from another answer. */
const knownReason = 'an identifier shows that this row is a person of another answer';

/** The same where a decision says who the contact is. */
const confirmedReason = 'a decision says that this row is a person of another answer';

/** The result of one requested row. */
export type AlignedRow =
  | {
      readonly outcome: Extract<AnsweredOutcome, 'enriched'>;
      readonly person: Person;
      readonly matchIndex: number;
      readonly evidence: Evidence;
    }
  | { readonly outcome: Extract<AnsweredOutcome, 'not_found'> }
  | { readonly outcome: Extract<AnsweredOutcome, 'identity_mismatch'>; readonly reason: string };

export interface Alignment {
  /** In the order of the requested rows. */
  readonly rows: readonly AlignedRow[];
  /** People of the answer who are assigned to no row. */
  readonly quarantined: readonly { readonly matchIndex: number; readonly reason: string }[];
}

/** Further evidence: people of other answers, and rows outside of the call. Rows are named by their index. */
export interface KnownElsewhere {
  readonly candidatesOf: (row: number) => readonly Candidate[];
  /** Rows of other contacts that could be a person, of the call and outside of it. */
  readonly othersOf: (row: number, person: ComparedPerson) => readonly ComparedIdentity[];
  /** Decisions about the contact of a row. */
  readonly verdictsOf: (row: number) => Verdicts;
}

/** A person of the answer. */
interface Arrived {
  readonly person: ComparedPerson;
  readonly matchIndex: number;
}

/** The rows and the answer of a call, prepared for comparisons. */
interface Call {
  readonly rows: readonly ComparedIdentity[];
  readonly arrived: readonly Arrived[];
  /** The answer has a match for each row. */
  readonly inPlace: boolean;
  readonly known: KnownElsewhere;
}

/**
 * Assigns the people of an answer to the requested rows, by evidence. Promise 5: a person's data never goes to another
 * person's contact.
 *
 * The service does not promise how `matches` aligns with `details`: misses are null or missing, the order changes, and
 * other people are added. So `decidePerson` decides about each row separately, among all people of the answer and all
 * people known from other answers. The order is never evidence. If the answer has a match for each row, it only helps
 * to distinguish a row whose match was refused (`identity_mismatch`) from a row without a match (`not_found`).
 *
 * @param asked the requested rows, in the order of `details`
 * @param matches the people of the answer, nulls included
 */
export function alignMatches(
  asked: readonly Identity[],
  matches: readonly (Person | null)[],
  known: KnownElsewhere,
): Alignment {
  const rows = asked.map(readyIdentity);
  const arrived = matches.flatMap((person, matchIndex) =>
    person === null || isStub(person) ? [] : [{ person: readyPerson(person), matchIndex }],
  );
  const call = { rows, arrived, inPlace: matches.length === asked.length, known };
  const decisions = rows.map((row, index) =>
    decidePerson(row, {
      candidates: [...arrived, ...known.candidatesOf(index)],
      others: (person) => known.othersOf(index, person),
      wasAsked: true,
      verdicts: known.verdictsOf(index),
    }),
  );
  const given = decisions.map((decision, row) =>
    decision.kind === 'person'
      ? (arrived[decision.index] ?? sameInAnswer(call, row, decision.index))
      : undefined,
  );
  const left = arrived.filter(
    ({ person }) => !given.some((each) => each && isOnePerson(each.person, person)),
  );
  return {
    rows: decisions.map((decision, row): AlignedRow => {
      if (decision.kind === 'refused') return mismatch(decision.reason);
      if (decision.kind === 'none') return whyNot(call, row, left);
      const own = given[row];
      if (own === undefined)
        return mismatch(decision.evidence === 'confirmed' ? confirmedReason : knownReason);
      const { matchIndex } = own;
      return { outcome: 'enriched', person: matches[matchIndex]!, matchIndex, evidence: decision.evidence };
    }),
    quarantined: left.map((each) => ({
      matchIndex: each.matchIndex,
      reason: mismatchReason(call, decisions, each),
    })),
  };
}

/** The answer's own record of a person whom an earlier answer identifies. */
function sameInAnswer({ arrived, known }: Call, row: number, index: number): Arrived | undefined {
  const elsewhere = known.candidatesOf(row)[index - arrived.length];
  return elsewhere && arrived.find(({ person }) => isOnePerson(person, elsewhere.person));
}

function fitOf({ rows, known }: Call, row: number, person: ComparedPerson): Fit {
  const isRejected = verdictOn(known.verdictsOf(row), person) === 'rejected';
  return isRejected ? rejectedFit : weigh(rows[row]!, person);
}

/** @param left people of the answer who are given to no row */
function whyNot(call: Call, row: number, left: readonly Arrived[]): AlignedRow {
  const fits = left.map(({ person }) => fitOf(call, row, person));
  const inPlace = left.findIndex(({ matchIndex }) => matchIndex === row);
  const doubtful =
    fits.find(isDoubtful) ?? (inPlace >= 0 && isForPlace(call, left[inPlace]!) ? fits[inPlace] : undefined);
  return doubtful ? mismatch(doubtOf(doubtful)) : { outcome: 'not_found' };
}

/** Whether a match was perhaps meant for the row in its position: it fits no other row. */
function isForPlace(call: Call, { person, matchIndex }: Arrived): boolean {
  return (
    call.inPlace && !call.rows.some((_, row) => row !== matchIndex && isDoubtful(fitOf(call, row, person)))
  );
}

function mismatchReason(
  call: Call,
  decisions: readonly PersonDecision[],
  { person, matchIndex }: Arrived,
): string {
  const isMeant = (index: number): boolean => {
    const refused = call.arrived[index];
    return refused !== undefined && isOnePerson(refused.person, person);
  };
  for (const decision of decisions)
    if (decision.kind === 'refused' && decision.indexes.some(isMeant)) return decision.reason;
  const doubts = call.rows.map((_, row) => fitOf(call, row, person));
  const doubtful = doubts.find(isDoubtful) ?? (call.inPlace ? doubts[matchIndex] : undefined);
  return doubtful ? doubtOf(doubtful) : 'the person fits no row of the call';
}

/** Whether the person was perhaps meant for the row, wherever in the answer the person stands. */
function isDoubtful(fit: Fit): boolean {
  return fit.strength !== 'none' || fit.sameName || fit.sharesIdentifier;
}

function doubtOf(fit: Fit): string {
  return fit.strength === 'none' ? fit.reason : contestedReason;
}

function mismatch(reason: string): AlignedRow {
  return { outcome: 'identity_mismatch', reason };
}
