interface AttemptStatusFacts {
  /** True if the worst case stays reserved, because the cost is not settled. */
  readonly holdsCredits: boolean;
  /** True if the service may have processed the call. */
  readonly mayBeBilled: boolean;
  /** True if a call with this status counts as a lookup of its people. */
  readonly asked: boolean;
}

/** Facts about each status of an attempt. The names of statuses are part of the public interface. */
const attemptStatusFacts = {
  /** The call was admitted, and its end is not recorded yet. */
  admitted: { holdsCredits: true, mayBeBilled: true, asked: false },
  awaiting: { holdsCredits: true, mayBeBilled: true, asked: true },
  /** The answer was lost. Only the operator or a late result settles the attempt. */
  unknown: { holdsCredits: true, mayBeBilled: true, asked: true },
  settled: { holdsCredits: false, mayBeBilled: true, asked: true },
  /** The service refused the call and billed nothing. */
  refused: { holdsCredits: false, mayBeBilled: false, asked: false },
  /** The operator or the worker has determined that nothing was billed. */
  released: { holdsCredits: false, mayBeBilled: false, asked: false },
} as const satisfies Readonly<Record<string, AttemptStatusFacts>>;

export type AttemptStatus = keyof typeof attemptStatusFacts;

export const attemptStatuses = Object.keys(attemptStatusFacts) as readonly AttemptStatus[];

/** Statuses of attempts that keep their reservation. */
export const holdingStatuses = attemptStatuses.filter((status) => attemptStatusFacts[status].holdsCredits);

/** Statuses of attempts that count as a lookup of their people. */
export const askedStatuses = attemptStatuses.filter((status) => attemptStatusFacts[status].asked);

/** Statuses of attempts that cost nothing. */
export const freeStatuses = attemptStatuses.filter((status) => !attemptStatusFacts[status].mayBeBilled);
