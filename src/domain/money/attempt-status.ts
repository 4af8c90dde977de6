interface AttemptStatusFacts {
  /** True if the worst case stays reserved, because the cost is not settled. */
  readonly holdsCredits: boolean;
  /** True if the service may have processed the call. */
  readonly mayBeBilled: boolean;
  /** True if its people count as asked. */
  readonly asked: boolean;
}

/** Statuses of an attempt. Part of the public surface. */
const attemptStatusFacts = {
  /** Admitted and not recorded yet. */
  admitted: { holdsCredits: true, mayBeBilled: true, asked: false },
  awaiting: { holdsCredits: true, mayBeBilled: true, asked: true },
  /** The answer was lost. Only the operator or a late result settles the attempt. */
  unknown: { holdsCredits: true, mayBeBilled: true, asked: true },
  settled: { holdsCredits: false, mayBeBilled: true, asked: true },
  /** The service refused the call and billed nothing. */
  refused: { holdsCredits: false, mayBeBilled: false, asked: false },
  /** Nothing was billed, as the operator or the worker has determined. */
  released: { holdsCredits: false, mayBeBilled: false, asked: false },
} as const satisfies Readonly<Record<string, AttemptStatusFacts>>;

export type AttemptStatus = keyof typeof attemptStatusFacts;

export const attemptStatuses = Object.keys(attemptStatusFacts) as readonly AttemptStatus[];

/** Statuses with a reservation. */
export const holdingStatuses = attemptStatuses.filter((status) => attemptStatusFacts[status].holdsCredits);

/** Statuses whose people count as asked. */
export const askedStatuses = attemptStatuses.filter((status) => attemptStatusFacts[status].asked);

/** Statuses without costs. */
export const freeStatuses = attemptStatuses.filter((status) => !attemptStatusFacts[status].mayBeBilled);
