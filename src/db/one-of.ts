import { sql, type RawBuilder } from 'kysely';

/**
 * The names of a fixed set as a list for `in (…)`, for SQL that is raw text. The names come from our own tables only:
 * they are not escaped.
 */
export function oneOf(names: readonly string[]): string {
  return names.map((name) => `'${name}'`).join(', ');
}

/** The same for a template of kysely. */
export function anyOf(names: readonly string[]): RawBuilder<unknown> {
  return sql.raw(oneOf(names));
}
