import { sql, type RawBuilder } from 'kysely';

/** Pattern of identity keys that can be of several people: a name, or a shared mailbox with a name. */
export const sharedKeyPattern = '^(?:name:|email:.*[|])';

/** Condition: an identity key identifies a person alone. */
export function identifiesAlone(identityKey: RawBuilder<unknown>): RawBuilder<boolean> {
  return sql<boolean>`${identityKey} !~ ${sql.lit(sharedKeyPattern)}`;
}
