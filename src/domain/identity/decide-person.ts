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
  /** An earlier person of the contact: a later call asked for it, and no answer since has named this person. */
  readonly isFormer?: boolean;
  /** When a call asked for the person, in microseconds; undefined: the person is in the answer for the row. */
  readonly askedAt?: number;
}

/** Input of a decision: all people who may be the row's person, and all rows that may be one of these people. */
interface Surroundings {
  readonly candidates: readonly Candidate[];
  /** Rows of other contacts that could be a person. A function, because only weak evidence needs them. */
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

/** Why a contact for which no call was made gets no person by weak evidence. */
export const weakReason = 'only name and employer agree with a known person';

/** Why a row gets no person by weak evidence whom the service gives no id. */
const withoutIdReason = 'only name and employer agree, and the service gives the person no id';

/** Why a row gets none of several people. */
const ambiguousReason = 'more than one person fits equally well';

/**
 * Decides which person a row is (docs/explanation/identity.md). The same rule holds for new answers, and for contacts
 * that are compared with people of other answers. The order of candidates and of other rows never decides between two
 * people.
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
  // Records of one person do not compete: the order in which answers were digested would decide.
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
  // Namesakes without an id in other answers are not remembered, so nothing shows that there is only one.
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

/** The preferred indexes; if there are none, all. */
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
 * Whether a row could be a person, which makes other weak evidence of either doubtful: the row fits, or has the
 * person's name and employer, even if something else contradicts.
 */
export function isPossible(fit: Fit): boolean {
  return fit.strength !== 'none' || fit.namesake;
}

/** Whether another contact could be the person as well. Rows that share a key are one contact entered twice. */
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
 * A contact with the person's name stays that person when its address or employer changes. A contact with another name,
 * or without a name and with none of the person's identifiers, is another person.
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
