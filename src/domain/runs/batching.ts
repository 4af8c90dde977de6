import { serviceCapabilities } from '../service-capabilities.ts';

/**
 * Halves a group that the service refused (422), because one person may be the reason. Ten people need at most four
 * rounds until the nine others have an answer.
 */
export function halve<Item>(group: readonly Item[]): [Item[], Item[]] {
  const middle = Math.ceil(group.length / 2);
  return [group.slice(0, middle), group.slice(middle)];
}

/** Number of people of a page: 100 calls, or some 700 events in Temporal's history. */
export const peoplePerPage = 1_000;

/** Maximum number of people of a batch. A batch is one call. */
export const { peoplePerCall } = serviceCapabilities;
