import { identifyingKeysOfPerson } from '../../domain/identity/match-keys.ts';
import { wereMerged } from '../../domain/identity/merged-people.ts';
import type { ByMatchKey } from './by-match-key.ts';
import { emailHashes } from './email-hashes.ts';
import type { KnownPerson } from './known-people.ts';

/**
 * All keys of a person, in order: the person's own key, and those of records that the service has merged with the
 * person's, or from which it has changed the id. The phones and addresses of all these keys are the person's.
 *
 * @param known people of other answers; if one answer has both records, the service itself distinguishes them
 * @param former keys of the person by an earlier decision. Those of people whom only undone runs know stay, because an
 *   undo can be reverted
 * @returns null if the person has one key
 */
export function keysOfMerged(
  person: KnownPerson,
  known: ByMatchKey<KnownPerson>,
  former?: { readonly keys: readonly string[]; readonly isKnown: (key: string) => boolean },
): readonly string[] | null {
  const merged = known
    .sharing(identifyingKeysOfPerson(person.person, emailHashes))
    .filter(
      (other) =>
        other.askedAt.getTime() !== person.askedAt.getTime() && wereMerged(other.compared, person.compared),
    );
  const keys = new Set([
    person.personKey,
    ...merged.map(({ personKey }) => personKey),
    ...(former?.keys.filter((key) => !former.isKnown(key)) ?? []),
  ]);
  return keys.size === 1 ? null : [...keys].toSorted();
}
