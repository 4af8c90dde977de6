import { serviceCapabilities } from '../service-capabilities.ts';

/**
 * Halves a group that the service refused as a whole, because one person in it may be the reason. After at
 * most four rounds nine of ten people are answered.
 */
export function halve<Item>(group: readonly Item[]): [Item[], Item[]] {
  const middle = Math.ceil(group.length / 2);
  return [group.slice(0, middle), group.slice(middle)];
}

/** About a thousand people: 100 calls, some 700 events of history. */
export const peoplePerPage = 1_000;

/** A batch is one call. */
export const { peoplePerCall } = serviceCapabilities;
