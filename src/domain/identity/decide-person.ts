import {
  areSamePerson,
  weighFit,
  toComparedIdentity,
  toComparedPerson,
  type ComparedIdentity,
  type ComparedPerson,
  type Evidence,
  type Fit,
} from './identity-evidence.ts';
import { noVerdicts, rejectedFit, verdictOnPerson, type Verdicts } from './verdicts.ts';
import type { Identity } from './identity.ts';
import { compareNames } from './names/name-agreement.ts';
import type { Person } from './person.ts';

/** A person who may be the person of a row. The person comes from the answer for the row or from another answer. */
export interface Candidate {
  readonly person: ComparedPerson;
  /** True for the contact's earlier person, if the answer to a later call does not contain this person. */
  readonly isFormer?: boolean;
  /** Time of the person's call in microseconds; undefined if the person is in the answer for this row. */
  readonly askedAt?: number;
}

/** Input of a decision: all people who may be the row's person, and all rows that compete for these people. */
interface Surroundings {
  readonly candidates: readonly Candidate[];
  /** Reads rows of other contacts that could be the person, which only weak evidence needs. */
  readonly others: (person: ComparedPerson) => readonly ComparedIdentity[];
  /** True if a call was made for the contact. Before a call, only strong evidence counts. */
  readonly wasAsked: boolean;
  /** The operator's decisions about the contact. They override all evidence. */
  readonly verdicts?: Verdicts | undefined;
}

/**
 * The result of a decision about a row.
 *
 * - `person`: `index` in `candidates`; if several records are the same person, the newest record with an id.
 * - `refused`: people at `indexes` fit, but none is certain. `isStrong`: an identifier fits.
 * - `none`: no candidate fits; `reason` says what contradicts the first candidate.
 */
export type PersonDecision =
  | { readonly kind: 'person'; readonly index: number; readonly evidence: Evidence }
  | {
      readonly kind: 'refused';
      readonly isStrong: boolean;
      readonly indexes: readonly number[];
      readonly reason: string;
    }
  | { readonly kind: 'none'; readonly reason: string | undefined };

/** Reason why a contact gets no person by weak evidence before a call. */
export const weakEvidenceReason = 'only name and employer agree with a known person';

/** Reason why a person without an id is not assigned by weak evidence. */
const withoutIdReason = 'only name and employer agree, and the service gives the person no id';

/** Reason why a row gets none of several matching people. */
const ambiguousReason = 'more than one person fits equally well';

/** Decides which new or known person a row is (docs/explanation/identity.md), in any order of candidates and rows. */
export function decidePerson(
  row: ComparedIdentity,
  { candidates, others, wasAsked, verdicts = noVerdicts }: Surroundings,
): PersonDecision {
  const decided = candidates.map(({ person }) => verdictOnPerson(verdicts, person));
  const confirmed = indexesOf(decided, (verdict) => verdict === 'confirmed');
  if (confirmed.length > 0)
    return { kind: 'person', index: bestRecord(candidates, confirmed), evidence: 'confirmed' };

  const isCurrent = (index: number): boolean => candidates[index]!.isFormer !== true;
  const hasId = (index: number): boolean => candidates[index]!.person.personId !== undefined;
  const fits = candidates.map(({ person }, index) =>
    decided[index] === 'rejected' ? rejectedFit : weighFit(row, person),
  );
  const fitting = indexesOf(fits, ({ strength }) => strength === 'strong');
  // Several records of one person do not compete. Otherwise the result would depend on the order in which answers are
  // digested.
  const strong = areOnePerson(candidates, fitting)
    ? fitting
    : preferring(hasId, preferring(isCurrent, fitting));
  if (strong.length > 0) {
    if (!areOnePerson(candidates, strong)) return refused(strong, true, ambiguousReason);
    return accepted(fits, bestRecord(candidates, strong));
  }
  if (!wasAsked) return none(fits);
  const weak = preferring(
    isCurrent,
    indexesOf(fits, ({ strength }) => strength === 'weak'),
  );
  if (weak.length === 0) return none(fits);
  const possible = preferring(isCurrent, indexesOf(fits, isPossibleFit));
  if (!areOnePerson(candidates, [...weak, ...possible])) return refused(weak, false, ambiguousReason);
  const people = weak.map((index) => candidates[index]!.person);
  if (people.some((person) => isContested(row, person, others(person))))
    return refused(weak, false, competingContactReason);
  const best = bestRecord(candidates, weak);
  // People without an id are not kept for comparison, so a namesake in another answer cannot be excluded.
  return hasId(best) ? accepted(fits, best) : refused(weak, false, withoutIdReason);
}

function indexesOf<Item>(items: readonly Item[], isMeant: (item: Item) => boolean): number[] {
  return [...items.keys()].filter((index) => isMeant(items[index]!));
}

/** The decision for the candidate at this index, with the evidence of its fit. */
function accepted(fits: readonly Fit[], index: number): PersonDecision {
  const fit = fits[index]!;
  if (fit.strength === 'none') throw new Error('a person who does not fit was chosen');
  return { kind: 'person', index, evidence: fit.evidence };
}

function refused(indexes: readonly number[], isStrong: boolean, reason: string): PersonDecision {
  return { kind: 'refused', isStrong, indexes, reason };
}

/** The decision that no candidate fits, for the reason of the first. Before a call, weak evidence is no fit. */
function none([first]: readonly Fit[]): PersonDecision {
  return { kind: 'none', reason: !first || first.strength === 'none' ? first?.reason : weakEvidenceReason };
}

/** Of several records of one person: the newest with an id, or else the first. */
function bestRecord(candidates: readonly Candidate[], indexes: readonly number[]): number {
  const named = indexes.filter((index) => candidates[index]!.person.personId !== undefined);
  if (named.length === 0) return indexes[0]!;
  const askedAt = (index: number): number => candidates[index]!.askedAt ?? Number.POSITIVE_INFINITY;
  return named.reduce((best, index) => (askedAt(index) > askedAt(best) ? index : best));
}

/** Returns the preferred indexes, or all indexes if none is preferred. */
function preferring(isPreferred: (index: number) => boolean, indexes: readonly number[]): readonly number[] {
  const preferred = indexes.filter(isPreferred);
  return preferred.length > 0 ? preferred : indexes;
}

/** True if all records at these indexes are the same person. */
function areOnePerson(candidates: readonly Candidate[], [first, ...rest]: readonly number[]): boolean {
  return rest.every((index) => areSamePerson(candidates[first!]!.person, candidates[index]!.person));
}

/** Reason why weak evidence for a person is refused or withdrawn. */
export const competingContactReason = 'another contact could be this person as well';

/** True if a row could be a person, despite a contradiction. Such a row makes weak evidence of others doubtful. */
export function isPossibleFit(fit: Fit): boolean {
  return fit.strength !== 'none' || fit.namesake;
}

/** True if another contact could also be the person. Rows that share a key are the same contact. */
function isContested(
  { keys }: ComparedIdentity,
  person: ComparedPerson,
  others: readonly ComparedIdentity[],
): boolean {
  return others.some(
    (other) => isPossibleFit(weighFit(other, person)) && !keys.some((key) => other.keys.includes(key)),
  );
}

/**
 * Returns why the newest cells of a contact contradict its person, if they do. A contact that keeps the person's name
 * may change e-mail and employer. With another name, or without name and identifiers, it is another person.
 */
export function contradictionOf(cells: Identity, person: Person): string | undefined {
  const row = toComparedIdentity(cells);
  const candidate = toComparedPerson(person);
  const fit = weighFit(row, candidate);
  if (fit.strength !== 'none') return undefined;
  const hasOtherId =
    cells.personId !== undefined && candidate.personId !== undefined && cells.personId !== candidate.personId;
  return compareNames(row.name, candidate.name) === 'agree' && !hasOtherId ? undefined : fit.reason;
}
