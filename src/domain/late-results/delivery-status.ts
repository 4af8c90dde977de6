interface DeliveryStatusFacts {
  /** `none`: it is kept for a person, and can be replayed. `pending`: it is not applied yet. */
  readonly effect: 'pending' | 'done' | 'none';
  /** What it says of credits counts: it is the first delivery of its results. */
  readonly countsCredits: boolean;
}

/** Statuses of a delivery in the inbox. Part of the public surface. */
export const deliveryStatusFacts = {
  /** Stored and not applied. */
  received: { effect: 'pending', countsCredits: false },
  applied: { effect: 'done', countsCredits: true },
  /** The same bytes took effect before. */
  duplicate: { effect: 'done', countsCredits: false },
  /** No call asked for the people in it. */
  orphaned: { effect: 'none', countsCredits: true },
  /** It cannot be read. */
  quarantined: { effect: 'none', countsCredits: false },
} as const satisfies Readonly<Record<string, DeliveryStatusFacts>>;

export type DeliveryStatus = keyof typeof deliveryStatusFacts;

/** Every status once. */
export const deliveryStatuses = Object.keys(deliveryStatusFacts) as readonly DeliveryStatus[];

/** Deliveries that took effect, themselves or an equal one. */
export const effectiveStatuses = deliveryStatuses.filter(
  (status) => deliveryStatusFacts[status].effect === 'done',
);

/** Deliveries without effect: kept, and can be replayed. */
export const ineffectiveStatuses = deliveryStatuses.filter(
  (status) => deliveryStatusFacts[status].effect === 'none',
);

/** Deliveries whose credits count. */
export const creditedStatuses = deliveryStatuses.filter(
  (status) => deliveryStatusFacts[status].countsCredits,
);
