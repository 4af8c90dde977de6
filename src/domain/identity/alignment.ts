import type { Identity } from './identity.ts';
import { decidePerson, type Candidate } from './decide-person.ts';
import {
  isOnePerson,
  isStub,
  readyIdentity,
  readyPerson,
  weigh,
  type ComparedIdentity,
  type ComparedPerson,
  type EmailHashes,
  type Evidence,
  type Fit,
} from './identity-evidence.ts';
import type { AnsweredOutcome } from '../runs/outcome.ts';
import type { Person } from './person.ts';
import { contestedReason } from './rivals.ts';
import { noVerdicts, rejectedFit, verdictOn, type Verdicts } from './verdicts.ts';

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

/** Further evidence: people of other answers, and rows outside of the call. */
export interface KnownElsewhere {
  /** @param row index of a requested row */
  readonly candidatesOf: (row: number) => readonly Candidate[];
  /**
   * Rows of other contacts that could be a person, of the call and outside of it.
   *
   * @param row index of a requested row
   */
  readonly othersOf: (row: number, person: ComparedPerson) => readonly ComparedIdentity[];
  /** Whether a person of the answer and a candidate are records of one person, also if only others connect them. */
  readonly areRecordsOfOne?: (came: ComparedPerson, candidate: ComparedPerson) => boolean;
  /** Decisions about the contact of a requested row. @param row its index */
  readonly verdictsOf?: (row: number) => Verdicts;
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
 * @param hashesOf MD5 and SHA-256 of an address, for rows that have only a hash
 * @param known undefined: only the rows and people of this call count
 */
export function alignMatches(
  asked: readonly Identity[],
  matches: readonly (Person | null)[],
  hashesOf: EmailHashes = () => [],
  known?: KnownElsewhere,
): Alignment {
  const rows = asked.map(readyIdentity);
  const people = matches.map((person) =>
    person === null || isStub(person) ? undefined : readyPerson(person),
  );
  const inPlace = matches.length === asked.length;
  const came = people.flatMap((person, matchIndex) => (person ? [{ person, matchIndex }] : []));
  const decisions = rows.map((row, index) =>
    decidePerson(
      row,
      {
        candidates: [...came, ...(known?.candidatesOf(index) ?? [])],
        others: (person) => known?.othersOf(index, person) ?? rows.filter((other) => other !== row),
        wasAsked: true,
        verdicts: known?.verdictsOf?.(index),
      },
      hashesOf,
    ),
  );
  const given = decisions.map((decision, row) =>
    decision.kind === 'person' ? (came[decision.index] ?? sameInAnswer(row, decision.index)) : undefined,
  );
  const isTaken = (matchIndex: number): boolean =>
    given.some((each) => each && isOnePerson(each.person, people[matchIndex]!));
  return {
    rows: decisions.map((decision, row): AlignedRow => {
      if (decision.kind === 'refused') return mismatch(decision.reason);
      if (decision.kind === 'none') return whyNot(row);
      const own = given[row];
      if (own === undefined)
        return mismatch(decision.evidence === 'confirmed' ? confirmedReason : knownReason);
      const { matchIndex } = own;
      return { outcome: 'enriched', person: matches[matchIndex]!, matchIndex, evidence: decision.evidence };
    }),
    quarantined: came.flatMap(({ matchIndex }) =>
      isTaken(matchIndex) ? [] : [{ matchIndex, reason: mismatchReason(matchIndex) }],
    ),
  };

  /** The answer's own record of a person whom an earlier answer identifies, also under a new id. */
  function sameInAnswer(row: number, index: number): (typeof came)[number] | undefined {
    const elsewhere = known?.candidatesOf(row)[index - came.length];
    if (!elsewhere) return undefined;
    const same = came.find(({ person }) => isOnePerson(person, elsewhere.person));
    if (same) return same;
    const renumbered = came.filter(({ person }) => known?.areRecordsOfOne?.(person, elsewhere.person));
    const [only] = renumbered;
    const isRejected = only && verdictOn(known?.verdictsOf?.(row) ?? noVerdicts, only.person) === 'rejected';
    return renumbered.length === 1 && !isRejected ? only : undefined;
  }

  function fitOf(row: number, person: ComparedPerson): Fit {
    const isRejected = verdictOn(known?.verdictsOf?.(row) ?? noVerdicts, person) === 'rejected';
    return isRejected ? rejectedFit : weigh(rows[row]!, person, hashesOf);
  }

  function whyNot(row: number): AlignedRow {
    const left = people.map((person, match) =>
      person === undefined || isTaken(match) ? undefined : fitOf(row, person),
    );
    const doubtful = left.find((fit) => fit && isDoubtful(fit)) ?? (isForPlace(row) ? left[row] : undefined);
    return doubtful ? mismatch(doubtOf(doubtful)) : { outcome: 'not_found' };
  }

  /** Whether the match in the position of a row was perhaps meant for the row: it fits no other row. */
  function isForPlace(place: number): boolean {
    const person = people[place];
    return (
      inPlace &&
      person !== undefined &&
      !rows.some((_, row) => row !== place && isDoubtful(fitOf(row, person)))
    );
  }

  function mismatchReason(match: number): string {
    for (const decision of decisions)
      if (
        decision.kind === 'refused' &&
        decision.indexes.some((index) => came[index] && isOnePerson(came[index].person, people[match]!))
      )
        return decision.reason;
    const doubts = rows.map((_, row) => fitOf(row, people[match]!));
    const doubtful = doubts.find(isDoubtful) ?? (inPlace ? doubts[match] : undefined);
    return doubtful ? doubtOf(doubtful) : 'the person fits no row of the call';
  }
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
