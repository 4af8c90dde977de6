import { sql, type RawBuilder } from 'kysely';

/** Four digits or more, without the end: fewer could be a slip of the keyboard. */
const beginning = /^[0-9a-f]{4}[0-9a-f-]{0,31}$/;

/** Whether a UUID of a table is the one that a person named by the whole id or by its beginning. */
export function isNamedId(column: RawBuilder<unknown>, named: string): RawBuilder<boolean> {
  return beginning.test(named) ? sql`starts_with(${column}, ${named})` : sql`${column} = ${named}`;
}
