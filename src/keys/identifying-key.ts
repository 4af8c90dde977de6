import { sql, type RawBuilder } from 'kysely';

/** Condition: an identity key identifies a person alone. A name, or a shared mailbox with a name, does not. */
export function identifiesAlone(identityKey: RawBuilder<unknown>): RawBuilder<boolean> {
  return sql<boolean>`${identityKey} !~ '^(?:name:|email:.*[|])'`;
}
