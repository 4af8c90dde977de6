import type { LateKind } from '../domain/late-results/delivery-kinds.ts';
import type { GivenLateResult } from '../people/late-observations.ts';
import type { LateResult } from '../service/answers/late-result.ts';
import type { NamedContact } from './awaiting-call.ts';
import type { SuppressedPeople } from './suppressed-of-delivery.ts';

/**
 * What contacts are given of a body: the people that are assigned to them, without suppressed people. Pure.
 *
 * @param assigned for each person of the body the indexes of their contacts
 * @param kindsOf the kinds of results that the body has for a person, by the person's index
 */
export function givenResults(
  people: LateResult['people'],
  contacts: readonly NamedContact[],
  assigned: readonly (readonly number[])[],
  suppressed: SuppressedPeople,
  kindsOf: (person: number) => readonly LateKind[],
): (GivenLateResult & { readonly contact: NamedContact })[] {
  return people.flatMap((person, index) =>
    suppressed.people.has(index)
      ? []
      : assigned[index]!.map((contact) => ({ contact: contacts[contact]!, person, kinds: kindsOf(index) })),
  );
}
