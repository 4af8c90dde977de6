import type { Identity } from './identity.ts';
import {
  isStub,
  readyIdentity,
  readyPerson,
  weigh,
  type EmailHashes,
  type Evidence,
  type Fit,
} from './identity-evidence.ts';
import { compareNames } from './name-agreement.ts';
import type { AnsweredOutcome } from '../runs/outcome.ts';
import type { Person } from './person.ts';
import { contestedReason, isRival } from './rivals.ts';

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

/** An element of `matches` that is given to a row. */
interface Gift {
  readonly matchIndex: number;
  readonly evidence: Evidence;
}

/** In the order in which they decide. */
const levels = ['strong', 'weak'] as const;
type Level = (typeof levels)[number];

/**
 * Gives the people of an answer to the rows that were asked for, by evidence. Promise 5: a person's data never goes to
 * another person's contact.
 *
 * Nothing promises how `matches` aligns with `details`: misses come as null or are dropped, the order changes,
 * strangers come. So each pair of row and person is weighed by itself (`weigh`), and a person is given to a row only
 * where no person else who came fits the row as well and the person fits no other row as well; otherwise neither is
 * taken. Only an identifier that agrees (`strong`) gives one person to two rows: they are one contact entered twice.
 * The place in the list is never evidence. It only tells a row whose answer was not accepted (`identity_mismatch`) from
 * one that got none (`not_found`).
 *
 * @param asked what was sent, in the order of `details`
 * @param matches what came, nulls included
 * @param hashesOf MD5 and SHA-256 of an address, for rows that hold only a hash
 */
export function alignMatches(
  asked: readonly Identity[],
  matches: readonly (Person | null)[],
  hashesOf: EmailHashes = () => [],
): Alignment {
  const rows = asked.map(readyIdentity);
  const people = matches.map((person) =>
    person === null || isStub(person) ? undefined : readyPerson(person),
  );
  const inPlace = matches.length === asked.length;
  /** By row, then by element of `matches`. */
  const fits: readonly (readonly (Fit | undefined)[])[] = rows.map((row) =>
    people.map((person) => person && weigh(row, person, hashesOf)),
  );
  /** Two missing ids are not equal: then the profile tells, or that the service says the same in every field. */
  const isSamePerson = (one: number, other: number): boolean => {
    const [left, right] = [people[one], people[other]];
    if (one === other || !left || !right) return one === other;
    if (left.personId !== undefined || right.personId !== undefined) return left.personId === right.personId;
    const isOneProfile = left.profileUrl !== undefined && left.profileUrl === right.profileUrl;
    return isOneProfile
      ? compareNames(left.name, right.name) === 'agree'
      : JSON.stringify(matches[one]) === JSON.stringify(matches[other]);
  };

  const given = new Map<number, Gift>();
  const ambiguous = new Set<number>();
  for (const level of levels) {
    const open = [...rows.keys()].filter((row) => !given.has(row));
    for (const row of open) {
      const gift = ambiguous.has(row) ? undefined : candidate(row, level);
      if (!gift) continue;
      if (hasRivals(row, gift.matchIndex, level)) ambiguous.add(row);
      else given.set(row, gift);
    }
  }
  const taken = new Set(
    [...given.values()].flatMap((gift) =>
      [...people.keys()].filter((match) => isSamePerson(match, gift.matchIndex)),
    ),
  );
  return {
    rows: asked.map((_, row): AlignedRow => {
      const gift = given.get(row);
      return gift ? { outcome: 'enriched', person: matches[gift.matchIndex]!, ...gift } : whyNot(row);
    }),
    quarantined: people.flatMap((person, matchIndex) =>
      person === undefined || taken.has(matchIndex)
        ? []
        : [{ matchIndex, reason: mismatchReason(matchIndex) }],
    ),
  };

  /** A person who fits the row at this level, and no row at a higher one. */
  function candidate(row: number, level: Level): Gift | undefined {
    for (const [matchIndex, fit] of fits[row]!.entries()) {
      if (fit?.strength === level && (level === 'strong' || !isIdentified(matchIndex)))
        return { matchIndex, evidence: fit.evidence };
    }
    return undefined;
  }

  /** Whether a person fits some row by an identifier. */
  function isIdentified(matchIndex: number): boolean {
    return fits.some((row) =>
      row.some((fit, match) => fit?.strength === 'strong' && isSamePerson(match, matchIndex)),
    );
  }

  /**
   * Somebody else fits the row as well; or, of weak evidence, another row could be the person. A person who is
   * identified by a row is not counted for another row: that row itself is, if it says the same name.
   */
  function hasRivals(row: number, matchIndex: number, level: Level): boolean {
    const otherPeople = fits[row]!.some(
      (fit, match) =>
        fit?.strength === level &&
        !isSamePerson(match, matchIndex) &&
        (level === 'strong' || !isIdentified(match)),
    );
    return otherPeople || (level === 'weak' && [...rows.keys()].some((other) => isRow(other)));

    function isRow(other: number): boolean {
      return (
        other !== row &&
        fits[other]!.some(
          (fit, match) => fit && isSamePerson(match, matchIndex) && isRival(fit, rows[row]!, rows[other]!),
        )
      );
    }
  }

  function whyNot(row: number): AlignedRow {
    if (ambiguous.has(row)) return mismatch('more than one person or row fits equally well');
    const left = fits[row]!.map((fit, match) => (taken.has(match) ? undefined : fit));
    const doubtful = (inPlace ? left[row] : undefined) ?? left.find((fit) => fit && isNamesake(fit));
    return doubtful ? mismatch(doubtOf(doubtful)) : { outcome: 'not_found' };
  }

  function mismatchReason(match: number): string {
    const doubts = fits.map((each) => each[match]);
    const doubtful = (inPlace ? doubts[match] : undefined) ?? doubts.find((fit) => fit && isNamesake(fit));
    return doubtful ? doubtOf(doubtful) : 'the person fits no row of the call';
  }
}

/**
 * Takes people back from rows to whom weak evidence gave them: rows outside of the call could be those people as well.
 *
 * @param contested indexes of rows
 */
export function withoutContested(alignment: Alignment, contested: ReadonlySet<number>): Alignment {
  return {
    rows: alignment.rows.map((row, index) => (contested.has(index) ? mismatch(contestedReason) : row)),
    quarantined: [
      ...alignment.quarantined,
      ...alignment.rows.flatMap((row, index) =>
        row.outcome === 'enriched' && contested.has(index)
          ? [{ matchIndex: row.matchIndex, reason: contestedReason }]
          : [],
      ),
    ],
  };
}

function isNamesake(fit: Fit): boolean {
  return fit.strength !== 'none' || fit.sameName;
}

function doubtOf(fit: Fit): string {
  return fit.strength === 'none' ? fit.reason : 'more than one person or row fits equally well';
}

function mismatch(reason: string): AlignedRow {
  return { outcome: 'identity_mismatch', reason };
}
