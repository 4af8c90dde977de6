import type { ColumnMap } from '../column-map.ts';
import { singleFields, type Field } from '../fields.ts';
import { fieldOfScope } from '../opt-outs/opt-out-columns.ts';

/** The recorded mapping: raw header → field. Columns without a name of their own have their number. */
export function recordedMapping(header: readonly string[], map: ColumnMap): Record<string, Field> {
  const fields = new Map<number, Field>();
  for (const field of singleFields) for (const column of map.single[field]) fields.set(column, field);
  for (const column of map.emails) fields.set(column, 'email');
  for (const { column, scope } of map.optOuts) fields.set(column, fieldOfScope[scope]);
  // Not by assignment: a column may be called __proto__.
  return Object.fromEntries(
    recordedNames(header).flatMap((name, column) => {
      const field = fields.get(column);
      return field === undefined ? [] : [[name, field]];
    }),
  );
}

/** The fields of a header's columns, from the recorded mapping. */
export function fieldsOfHeader<Chosen>(
  header: readonly string[],
  mapping: Readonly<Record<string, Chosen>>,
): (Chosen | undefined)[] {
  return recordedNames(header).map((name) =>
    // A column may be called constructor.
    Object.hasOwn(mapping, name) ? mapping[name] : undefined,
  );
}

/** The names of a header's columns in the recorded mapping, each different. */
export function recordedNames(header: readonly string[]): string[] {
  const seen = new Set<string>();
  return header.map((name, column) => {
    const isDistinct = name !== '' && !seen.has(name);
    seen.add(name);
    return isDistinct ? name : `${name} (column ${column + 1})`.trimStart();
  });
}
