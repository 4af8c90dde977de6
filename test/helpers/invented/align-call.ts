import { alignMatches, type Alignment, type KnownElsewhere } from '../../../src/domain/identity/alignment.ts';
import type { Identity } from '../../../src/domain/identity/identity.ts';
import { readyIdentity } from '../../../src/domain/identity/identity-evidence.ts';
import type { Person } from '../../../src/domain/identity/person.ts';
import { noVerdicts } from '../../../src/domain/identity/verdicts.ts';

/** Aligns an answer. Only the rows and people of the call count, unless `known` has more. */
export function alignCall(
  asked: readonly Identity[],
  matches: readonly (Person | null)[],
  known: Partial<KnownElsewhere> = {},
): Alignment {
  const rows = asked.map(readyIdentity);
  return alignMatches(asked, matches, {
    candidatesOf: () => [],
    othersOf: (row) => rows.filter((_, index) => index !== row),
    verdictsOf: () => noVerdicts,
    ...known,
  });
}
