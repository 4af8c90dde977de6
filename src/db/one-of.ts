import { sql, type RawBuilder } from 'kysely';

/**
 * Names as a list for `in (…)` in raw SQL. Not escaped: only for names that the code itself defines.
 */
export function oneOf(names: readonly string[]): string {
  return names.map((name) => `'${name}'`).join(', ');
}

/** Names as a list for `in (…)` in a template of Kysely; not escaped, as in `oneOf`. */
export function anyOf(names: readonly string[]): RawBuilder<unknown> {
  return sql.raw(oneOf(names));
}
