import { sql, type RawBuilder } from 'kysely';

/** Fewer characters than four could be a slip of the keyboard. */
const fewest = 4;
/** Hexadecimal digits, without the end of the id. */
const beginning = /^[0-9a-f][0-9a-f-]{3,34}$/;
/** As narrow terminals show ids: `enrich-…b1d9f2`. */
const shortened = /^([\w-]*)(?:…|\.\.\.)([\w-]*)$/;

/** Whether a UUID of a table is the one that a person named by the whole id, its beginning, or in its shown form. */
export function isNamedId(column: RawBuilder<unknown>, named: string): RawBuilder<boolean> {
  return beginning.test(named) ? sql`starts_with(${column}, ${named})` : isShownId(column, named);
}

/** Whether an id is the one that a person named by the whole id, or by the form in which a narrow terminal shows it. */
export function isShownId(column: RawBuilder<unknown>, named: string): RawBuilder<boolean> {
  const [, head = '', tail = ''] = shortened.exec(named) ?? [];
  const length = head.length + tail.length;
  if (length < fewest) return sql`${column} = ${named}`;
  return sql`(
    starts_with(${column}, ${head}) and right(${column}, ${tail.length}::int) = ${tail}
    and length(${column}) >= ${length}::int
  )`;
}
