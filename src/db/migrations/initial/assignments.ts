/** The assignments of an upsert that replaces these columns. */
export function assignments(names: readonly string[]): string {
  return names.map((name) => `${name} = excluded.${name}`).join(', ');
}

/** These columns as one row, to compare all of them at once. */
export function rowOf(alias: string, names: readonly string[]): string {
  return `row(${names.map((name) => `${alias}.${name}`).join(', ')})`;
}
