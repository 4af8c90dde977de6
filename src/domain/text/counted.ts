import { formatNumber } from './format-number.ts';

/** The noun for a number: `call` for 1, `calls` for any other number. */
export function nounFor(value: number | string, one: string, many = `${one}s`): string {
  return String(value) === '1' ? one : many;
}

/**
 * A number with its noun: `1 call`, `1,200 calls`, `1 person`, `0.5 credits`.
 *
 * @param value a whole number, or a decimal as text
 */
export function counted(value: number | string, one: string, many?: string): string {
  return `${formatNumber(value)} ${nounFor(value, one, many)}`;
}

/** `1 person`, `2 people`. */
export function countedPeople(value: number): string {
  return counted(value, 'person', 'people');
}
