interface AttemptStatusProperties {
  /** True if the worst case stays reserved, because the cost is not settled. */
  readonly holdsCredits: boolean;
  /** True if the service may have processed the call. */
  readonly mayBeBilled: boolean;
  /** True if a call with this status counts as a lookup of its people. */
  readonly countsAsLookup: boolean;
}

/** Facts about each status of an attempt. The names of statuses are part of the public interface. */
const attemptStatusProperties = {
  /** The call was admitted, and its end is not recorded yet. */
  admitted: { holdsCredits: true, mayBeBilled: true, countsAsLookup: false },
  /** The answer is stored, and late results are due, which may cost more. */
  awaiting: { holdsCredits: true, mayBeBilled: true, countsAsLookup: true },
  /** The answer was lost. Only the operator or a late result settles the attempt. */
  unknown: { holdsCredits: true, mayBeBilled: true, countsAsLookup: true },
  settled: { holdsCredits: false, mayBeBilled: true, countsAsLookup: true },
  /** The service refused the call and billed nothing. */
  refused: { holdsCredits: false, mayBeBilled: false, countsAsLookup: false },
  /** The operator or the worker has determined that nothing was billed. */
  released: { holdsCredits: false, mayBeBilled: false, countsAsLookup: false },
} as const satisfies Readonly<Record<string, AttemptStatusProperties>>;

export type AttemptStatus = keyof typeof attemptStatusProperties;

export const attemptStatuses = Object.keys(attemptStatusProperties) as readonly AttemptStatus[];

/** Statuses of attempts that keep their reservation. */
export const statusesWithReservation = attemptStatuses.filter(
  (status) => attemptStatusProperties[status].holdsCredits,
);

/** Statuses of attempts that count as a lookup of their people. */
export const statusesOfLookups = attemptStatuses.filter(
  (status) => attemptStatusProperties[status].countsAsLookup,
);

/** Statuses of attempts that cost nothing. */
export const statusesWithoutCost = attemptStatuses.filter(
  (status) => !attemptStatusProperties[status].mayBeBilled,
);
