interface AttemptStatusFacts {
  /** The price is not settled yet: the worst case stays reserved. */
  readonly holdsCredits: boolean;
  /** The service may have been asked. */
  readonly mayBeBilled: boolean;
  /** Its people count as asked for. */
  readonly asked: boolean;
}

/** Statuses of an attempt. Part of the public surface. */
export const attemptStatusFacts = {
  /** Admitted, and not recorded yet. */
  admitted: { holdsCredits: true, mayBeBilled: true, asked: false },
  /** Answered; some results come later. */
  awaiting: { holdsCredits: true, mayBeBilled: true, asked: true },
  /** The answer was lost: only a person or a late result decides. */
  unknown: { holdsCredits: true, mayBeBilled: true, asked: true },
  settled: { holdsCredits: false, mayBeBilled: true, asked: true },
  /** The service refused the call, and billed nothing. */
  refused: { holdsCredits: false, mayBeBilled: false, asked: false },
  /** A person decided that nothing was billed. */
  released: { holdsCredits: false, mayBeBilled: false, asked: false },
} as const satisfies Readonly<Record<string, AttemptStatusFacts>>;

export type AttemptStatus = keyof typeof attemptStatusFacts;

/** Every status once. */
export const attemptStatuses = Object.keys(attemptStatusFacts) as readonly AttemptStatus[];

/** Attempts whose worst case is reserved. */
export const holdingStatuses = attemptStatuses.filter((status) => attemptStatusFacts[status].holdsCredits);

/** Attempts whose people were asked for. */
export const askedStatuses = attemptStatuses.filter((status) => attemptStatusFacts[status].asked);

/** Attempts that cost nothing. */
export const freeStatuses = attemptStatuses.filter((status) => !attemptStatusFacts[status].mayBeBilled);
