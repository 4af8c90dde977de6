import type { Identity } from './identity.ts';
import { decidePerson, type Candidate } from './decide-person.ts';
import {
  isOnePerson,
  isStub,
  readyIdentity,
  readyPerson,
  weigh,
  type ComparedIdentity,
  type EmailHashes,
  type Evidence,
  type Fit,
} from './identity-evidence.ts';
import type { AnsweredOutcome } from '../runs/outcome.ts';
import type { Person } from './person.ts';
import { contestedReason } from './rivals.ts';

/** Why a row gets none of the people who came: an identifier shows it to be a person of another answer. */
const knownReason = 'an identifier shows that this row is a person of another answer';

/** What an answer says of one person who was asked for. */
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
  /** In the order of those asked for. */
  readonly rows: readonly AlignedRow[];
  /** People of the answer who are assigned to no row. */
  readonly quarantined: readonly { readonly matchIndex: number; readonly reason: string }[];
}

/** What is known beside an answer: people of other answers, and rows outside of the call. */
export interface KnownElsewhere {
  /** @param row index of a requested row */
  readonly candidatesOf: (row: number) => readonly Candidate[];
  /** Rows of other contacts, of the call and outside of it. @param row index of a requested row */
  readonly othersOf: (row: number) => readonly ComparedIdentity[];
}

/**
 * Gives the people of an answer to the rows that were asked for, by evidence. Promise 5: a person's data never goes to
 * another person's contact.
 *
 * Nothing promises how `matches` aligns with `details`: misses come as null or are dropped, the order changes,
 * strangers come. So each row is decided about by itself (`decidePerson`), with all people who came and all who are
 * known from other answers. The list's order is never evidence. It only tells a row whose answer was not accepted
 * (`identity_mismatch`) from one that got none (`not_found`).
 *
 * @param asked what was sent, in the order of `details`
 * @param matches what came, nulls included
 * @param hashesOf MD5 and SHA-256 of an address, for rows that hold only a hash
 * @param known without it, only what the call itself says
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
        others: () => known?.othersOf(index) ?? rows.filter((other) => other !== row),
        wasAsked: true,
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
      if (own === undefined) return mismatch(knownReason);
      const { matchIndex } = own;
      return { outcome: 'enriched', person: matches[matchIndex]!, matchIndex, evidence: decision.evidence };
    }),
    quarantined: came.flatMap(({ matchIndex }) =>
      isTaken(matchIndex) ? [] : [{ matchIndex, reason: mismatchReason(matchIndex) }],
    ),
  };

  /** The record of the answer of a person whom earlier answers identify. */
  function sameInAnswer(row: number, index: number): (typeof came)[number] | undefined {
    const elsewhere = known?.candidatesOf(row)[index - came.length];
    return elsewhere && came.find(({ person }) => isOnePerson(person, elsewhere.person));
  }

  function whyNot(row: number): AlignedRow {
    const left = people.map((person, match) =>
      person === undefined || isTaken(match) ? undefined : weigh(rows[row]!, person, hashesOf),
    );
    const doubtful = (inPlace ? left[row] : undefined) ?? left.find((fit) => fit && isNamesake(fit));
    return doubtful ? mismatch(doubtOf(doubtful)) : { outcome: 'not_found' };
  }

  function mismatchReason(match: number): string {
    for (const decision of decisions)
      if (
        decision.kind === 'refused' &&
        decision.indexes.some((index) => came[index] && isOnePerson(came[index].person, people[match]!))
      )
        return decision.reason;
    const doubts = rows.map((row) => weigh(row, people[match]!, hashesOf));
    const doubtful = (inPlace ? doubts[match] : undefined) ?? doubts.find(isNamesake);
    return doubtful ? doubtOf(doubtful) : 'the person fits no row of the call';
  }
}

function isNamesake(fit: Fit): boolean {
  return fit.strength !== 'none' || fit.sameName;
}

function doubtOf(fit: Fit): string {
  return fit.strength === 'none' ? fit.reason : contestedReason;
}

function mismatch(reason: string): AlignedRow {
  return { outcome: 'identity_mismatch', reason };
}
