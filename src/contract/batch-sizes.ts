/** About a thousand people: 100 calls, some 700 events of history. */
export const peoplePerPage = 1_000;

/** Limits of the interface document: at most 10 entries in `details`. */
export const peoplePerCall = 10;
