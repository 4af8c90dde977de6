import { capabilities } from '../domain/service-capabilities.ts';

/** About a thousand people: 100 calls, some 700 events of history. */
export const peoplePerPage = 1_000;

/** A batch is one call. */
export const { peoplePerCall } = capabilities;
