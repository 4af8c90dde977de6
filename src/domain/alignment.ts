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
import type { AnsweredOutcome } from './outcome.ts';
import type { Person } from './person.ts';

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
  /** People who came back and are given to nobody. */
  readonly quarantined: readonly { readonly matchIndex: number; readonly reason: string }[];
}

/** Levels of evidence, in the order in which they decide. */
const levels = ['strong', 'weak', 'hint'] as const;

/**
 * Gives the people of an answer to the rows that were asked for, by evidence. Promise 5: nobody's data goes to another
 * person's contact.
 *
 * Nothing promises how `matches` aligns with `details`: misses come as null or are dropped, the order changes, strangers
 * come. So each pair of row and person is weighed by itself (`weigh`), and a person is given to a row only where it is the
 * one candidate of the row and the row the one candidate of the person, at the highest level of evidence that either has;
 * where two fit equally well, neither is taken. The place in the list is never evidence. It is only asked of a `hint`, and
 * it tells a row whose answer was not accepted (`identity_mismatch`) from one that got none (`not_found`).
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
  const fits: (Fit | undefined)[][] = rows.map((row) =>
    people.map((person) => person && weigh(row, person, hashesOf)),
  );

  const given = new Map<number, { matchIndex: number; evidence: Evidence }>();
  const taken = new Set<number>();
  const ambiguous = new Set<number>();
  for (const level of levels) {
    const candidates = (rowIndex: number): number[] =>
      people.flatMap((_, matchIndex) => {
        const fits_ = fits[rowIndex]![matchIndex];
        const counts =
          fits_?.strength === level &&
          !taken.has(matchIndex) &&
          (level !== 'hint' || (inPlace && rowIndex === matchIndex));
        return counts ? [matchIndex] : [];
      });
    const open = rows.map((_, rowIndex) => rowIndex).filter((rowIndex) => !given.has(rowIndex));
    const wanted = new Map(open.map((rowIndex) => [rowIndex, onePerPerson(candidates(rowIndex), matches)]));
    for (const [rowIndex, choices] of wanted) {
      const [matchIndex] = choices;
      if (matchIndex === undefined) continue;
      const rivals = open.filter(
        (other) => other !== rowIndex && rivalsFor(other, rowIndex, matchIndex, level),
      );
      const fit = fits[rowIndex]![matchIndex];
      if (choices.length > 1 || rivals.length > 0 || fit?.strength !== level) ambiguous.add(rowIndex);
      else given.set(rowIndex, { matchIndex, evidence: fit.evidence });
    }
    for (const { matchIndex } of given.values())
      for (const same of sameAs(matchIndex, matches)) taken.add(same);
  }

  /** A second row that the same person fits; two rows of one person (strong on both sides) are no rivals but duplicates. */
  function rivalsFor(
    other: number,
    rowIndex: number,
    matchIndex: number,
    level: (typeof levels)[number],
  ): boolean {
    if (level === 'hint') return compareByName(other, rowIndex);
    return level === 'weak' && fits[other]![matchIndex]?.strength === 'weak';
  }
  function compareByName(other: number, rowIndex: number): boolean {
    const fit = fits[other]![rowIndex];
    return fit !== undefined && (fit.strength !== 'none' || fit.sameName);
  }

  return {
    rows: rows.map((_, rowIndex) => {
      const gift = given.get(rowIndex);
      if (gift) return { outcome: 'enriched', person: matches[gift.matchIndex]!, ...gift };
      return { ...whyNot(rowIndex) };
    }),
    quarantined: people.flatMap((person, matchIndex) =>
      person === undefined || taken.has(matchIndex) ? [] : [{ matchIndex, reason: whyNobody(matchIndex) }],
    ),
  };

  function whyNot(rowIndex: number): AlignedRow {
    if (ambiguous.has(rowIndex)) return mismatch('more than one person or row fits equally well');
    const namesake = fits[rowIndex]!.find(
      (fit, matchIndex) => !taken.has(matchIndex) && fit && isNamesake(fit),
    );
    if (namesake?.strength === 'none') return mismatch(namesake.reason);
    const here = inPlace && !taken.has(rowIndex) ? fits[rowIndex]![rowIndex] : undefined;
    if (here) return mismatch(here.strength === 'none' ? here.reason : 'nothing but the name agrees');
    return namesake ? mismatch('nothing but the name agrees') : { outcome: 'not_found' };
  }

  function whyNobody(matchIndex: number): string {
    const here = inPlace ? fits[matchIndex]![matchIndex] : undefined;
    if (here?.strength === 'none') return here.reason;
    const sameName = fits.map((row) => row[matchIndex]).find((fit) => fit && isNamesake(fit));
    if (sameName?.strength === 'none') return sameName.reason;
    return sameName
      ? 'it fits more than one row, or nothing but the name agrees'
      : 'it fits nobody who was asked for';
  }
}

function isNamesake(fit: Fit): boolean {
  return fit.strength !== 'none' || fit.sameName;
}

function mismatch(reason: string): AlignedRow {
  return { outcome: 'identity_mismatch', reason };
}

/** The same person twice in an answer is one candidate. */
function onePerPerson(candidates: readonly number[], matches: readonly (Person | null)[]): number[] {
  return candidates.filter((matchIndex) =>
    sameAs(matchIndex, matches).every((same) => same >= matchIndex || !candidates.includes(same)),
  );
}

function sameAs(matchIndex: number, matches: readonly (Person | null)[]): number[] {
  const id = matches[matchIndex]?.id;
  return matches.flatMap((person, index) =>
    index === matchIndex || (id && person?.id === id) ? [index] : [],
  );
}
