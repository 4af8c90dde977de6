/** The noun for a count: `call` for 1, `calls` for any other number. */
export function nounFor(value: number | string, one: string, many = `${one}s`): string {
  return String(value) === '1' ? one : many;
}

/**
 * So many of something: `1 call`, `2 calls`, `1 person`, `0.5 credits`.
 *
 * @param value a number, or a decimal as text
 */
export function counted(value: number | string, one: string, many?: string): string {
  return `${value} ${nounFor(value, one, many)}`;
}

/** `1 person`, `2 people`. */
export function countedPeople(value: number): string {
  return counted(value, 'person', 'people');
}
