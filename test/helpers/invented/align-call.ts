import { alignRows, type AlignedRow, type Alignment } from '../../../src/domain/identity/alignment.ts';
import { decidePerson, type Candidate } from '../../../src/domain/identity/decide-person.ts';
import type { Identity } from '../../../src/domain/identity/identity.ts';
import {
  areSamePerson,
  isEmptyPerson,
  toComparedIdentity,
  toComparedPerson,
  type ComparedIdentity,
  type ComparedPerson,
} from '../../../src/domain/identity/identity-evidence.ts';
import type { Person } from '../../../src/domain/identity/person.ts';
import { noVerdicts, type Verdicts } from '../../../src/domain/identity/verdicts.ts';

/** Evidence from outside the call: people of other answers, and rows of other calls. Rows are named by their index. */
interface KnownElsewhere {
  readonly candidatesOf: (row: number) => readonly Candidate[];
  readonly othersOf: (row: number, person: ComparedPerson) => readonly ComparedIdentity[];
  readonly verdictsOf: (row: number) => Verdicts;
}

type RowWithPerson =
  | (Extract<AlignedRow, { outcome: 'enriched' }> & { readonly person: Person })
  | Exclude<AlignedRow, { outcome: 'enriched' }>;

export interface AlignedCall {
  readonly rows: readonly RowWithPerson[];
  readonly quarantined: Alignment['unmatched'];
}

/** Assigns the people of an answer to the rows of a call. `known` can add people and rows from outside the call. */
export function alignCall(
  asked: readonly Identity[],
  matches: readonly (Person | null)[],
  known: Partial<KnownElsewhere> = {},
): AlignedCall {
  const rows = asked.map(toComparedIdentity);
  const arrived = matches.flatMap((person, matchIndex) =>
    person === null || isEmptyPerson(person) ? [] : [{ person: toComparedPerson(person), matchIndex }],
  );
  const decided = rows.map((row, index) => {
    const candidates: readonly Candidate[] = [...arrived, ...(known.candidatesOf?.(index) ?? [])];
    const verdicts = known.verdictsOf?.(index) ?? noVerdicts;
    const others = (person: ComparedPerson) =>
      known.othersOf?.(index, person) ?? rows.filter((_, other) => other !== index);
    const decision = decidePerson(row, { candidates, others, wasAsked: true, verdicts });
    switch (decision.kind) {
      case 'person': {
        const { evidence } = decision;
        const chosen = candidates[decision.index]!.person;
        const matchIndex = arrived.find(({ person }) => areSamePerson(person, chosen))?.matchIndex;
        return { row, verdicts, decision: { kind: 'person', matchIndex, evidence } as const };
      }
      case 'refused':
        return { row, verdicts, decision: { kind: 'refused', reason: decision.reason } as const };
      case 'none':
        return { row, verdicts, decision: { kind: 'none' } as const };
    }
  });
  const alignment = alignRows({ rows: decided, arrived, inPlace: matches.length === asked.length });
  return {
    rows: alignment.rows.map((row): RowWithPerson =>
      row.outcome === 'enriched' ? { ...row, person: matches[row.matchIndex]! } : row,
    ),
    quarantined: alignment.unmatched,
  };
}
