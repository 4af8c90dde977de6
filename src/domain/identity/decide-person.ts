import {
  isOnePerson,
  weigh,
  readyIdentity,
  readyPerson,
  type ComparedIdentity,
  type ComparedPerson,
  type Evidence,
  type Fit,
} from './identity-evidence.ts';
import { noVerdicts, rejectedFit, verdictOn, type Verdicts } from './verdicts.ts';
import type { Identity } from './identity.ts';
import { compareNames } from './names/name-agreement.ts';
import type { Person } from './person.ts';

/** A person who may be the person of a row, from the answer for the row or from another answer. */
export interface Candidate {
  readonly person: ComparedPerson;
  /** True for an earlier person of the contact: a later call for the contact was answered without this person. */
  readonly isFormer?: boolean;
  /** When a call asked for the person, in microseconds; undefined: the person is in the answer for the row. */
  readonly askedAt?: number;
}

/** Input of a decision: all people who may be the row's person, and all rows that compete for these people. */
interface Surroundings {
  readonly candidates: readonly Candidate[];
  /** Rows of other contacts that could be a person. A function, because only weak evidence reads them. */
  readonly others: (person: ComparedPerson) => readonly ComparedIdentity[];
  /** Whether a call asked for the contact. Without a call only strong evidence counts. */
  readonly wasAsked: boolean;
  /** Decisions about the contact come before all evidence. */
  readonly verdicts?: Verdicts | undefined;
}

/**
 * The person of a row.
 *
 * - `person`: `index` in `candidates`; if several records are the same person, the newest one with an id.
 * - `refused`: `indexes` are the people who fit; none of them is certain. `isStrong`: an identifier fits.
 * - `none`: no candidate fits; `reason` is what contradicts the first of them.
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
export const weakReason = 'only name and employer agree with a known person';

/** Reason why a person without an id is not assigned by weak evidence. */
const withoutIdReason = 'only name and employer agree, and the service gives the person no id';

/** Reason why a row gets none of several matching people. */
const ambiguousReason = 'more than one person fits equally well';

/**
 * Decides which person a row is (docs/explanation/identity.md). The same rule applies to new answers and to contacts
 * that are compared with people of earlier answers. The order of candidates and other rows never matters.
 */
export function decidePerson(
  row: ComparedIdentity,
  { candidates, others, wasAsked, verdicts = noVerdicts }: Surroundings,
): PersonDecision {
  const decided = candidates.map(({ person }) => verdictOn(verdicts, person));
  const confirmed = indexesOf(decided, (verdict) => verdict === 'confirmed');
  if (confirmed.length > 0)
    return { kind: 'person', index: bestRecord(candidates, confirmed), evidence: 'confirmed' };

  const isCurrent = (index: number): boolean => candidates[index]!.isFormer !== true;
  const hasId = (index: number): boolean => candidates[index]!.person.personId !== undefined;
  const fits = candidates.map(({ person }, index) =>
    decided[index] === 'rejected' ? rejectedFit : weigh(row, person),
  );
  const fitting = indexesOf(fits, ({ strength }) => strength === 'strong');
  // Records of one person do not compete, because the result would depend on the order of digested answers.
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
  const possible = preferring(isCurrent, indexesOf(fits, isPossible));
  if (!areOnePerson(candidates, [...weak, ...possible])) return refused(weak, false, ambiguousReason);
  const people = weak.map((index) => candidates[index]!.person);
  if (people.some((person) => isContested(row, person, others(person))))
    return refused(weak, false, contestedReason);
  const best = bestRecord(candidates, weak);
  // People without an id are not remembered, so a namesake in another answer cannot be excluded.
  return hasId(best) ? accepted(fits, best) : refused(weak, false, withoutIdReason);
}

function indexesOf<Item>(items: readonly Item[], isMeant: (item: Item) => boolean): number[] {
  return [...items.keys()].filter((index) => isMeant(items[index]!));
}

function accepted(fits: readonly Fit[], index: number): PersonDecision {
  const fit = fits[index]!;
  if (fit.strength === 'none') throw new Error('a person who does not fit was chosen');
  return { kind: 'person', index, evidence: fit.evidence };
}

function refused(indexes: readonly number[], isStrong: boolean, reason: string): PersonDecision {
  return { kind: 'refused', isStrong, indexes, reason };
}

function none([first]: readonly Fit[]): PersonDecision {
  return { kind: 'none', reason: !first || first.strength === 'none' ? first?.reason : weakReason };
}

function bestRecord(candidates: readonly Candidate[], indexes: readonly number[]): number {
  const named = indexes.filter((index) => candidates[index]!.person.personId !== undefined);
  if (named.length === 0) return indexes[0]!;
  const askedAt = (index: number): number => candidates[index]!.askedAt ?? Number.POSITIVE_INFINITY;
  return named.reduce((best, index) => (askedAt(index) > askedAt(best) ? index : best));
}

/** The preferred indexes, or all if none is preferred. */
function preferring(isPreferred: (index: number) => boolean, indexes: readonly number[]): readonly number[] {
  const preferred = indexes.filter(isPreferred);
  return preferred.length > 0 ? preferred : indexes;
}

function areOnePerson(candidates: readonly Candidate[], [first, ...rest]: readonly number[]): boolean {
  return rest.every((index) => isOnePerson(candidates[first!]!.person, candidates[index]!.person));
}

/** Why weak evidence is refused or withdrawn. */
export const contestedReason = 'another contact could be this person as well';

/**
 * Whether a row could be a person, which makes weak evidence of others doubtful: the row fits, or has the same name and
 * employer, even if something else contradicts.
 */
export function isPossible(fit: Fit): boolean {
  return fit.strength !== 'none' || fit.namesake;
}

/** Whether another contact could be the person too. Rows that share a key are the same contact. */
function isContested(
  { keys }: ComparedIdentity,
  person: ComparedPerson,
  others: readonly ComparedIdentity[],
): boolean {
  return others.some(
    (other) => isPossible(weigh(other, person)) && !keys.some((key) => other.keys.includes(key)),
  );
}

/**
 * Returns why the newest cells of a contact contradict its person; undefined if they do not.
 *
 * A contact with the person's name stays this person when its e-mail or employer changes. A contact with another name
 * is another person, and so is one without a name and without any of the person's identifiers.
 */
export function contradictionOf(cells: Identity, person: Person): string | undefined {
  const row = readyIdentity(cells);
  const candidate = readyPerson(person);
  const fit = weigh(row, candidate);
  if (fit.strength !== 'none') return undefined;
  const hasOtherId =
    cells.personId !== undefined && candidate.personId !== undefined && cells.personId !== candidate.personId;
  return compareNames(row.name, candidate.name) === 'agree' && !hasOtherId ? undefined : fit.reason;
}
