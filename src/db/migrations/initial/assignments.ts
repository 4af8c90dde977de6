/** The assignments of an upsert that replaces these columns. */
export function assignments(names: readonly string[]): string {
  return names.map((name) => `${name} = excluded.${name}`).join(', ');
}
