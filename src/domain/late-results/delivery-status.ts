interface DeliveryStatusFacts {
  /** `pending`: not applied yet. `none`: changed no contact; kept for a person, who can replay the delivery. */
  readonly effect: 'pending' | 'done' | 'none';
  /** Whether its stated credits count, as the first delivery of its results. */
  readonly countsCredits: boolean;
}

/** Statuses of a delivery in the inbox. Part of the public surface. */
const deliveryStatusFacts = {
  /** Stored and not applied. */
  received: { effect: 'pending', countsCredits: false },
  applied: { effect: 'done', countsCredits: true },
  /** The same bytes took effect before. */
  duplicate: { effect: 'done', countsCredits: false },
  /** Its results go to no person of a recorded answer; its price counts. */
  orphaned: { effect: 'none', countsCredits: true },
  /** Not readable, of another call, or with an impossible price. */
  quarantined: { effect: 'none', countsCredits: false },
} as const satisfies Readonly<Record<string, DeliveryStatusFacts>>;

export type DeliveryStatus = keyof typeof deliveryStatusFacts;

export const deliveryStatuses = Object.keys(deliveryStatusFacts) as readonly DeliveryStatus[];

/** Deliveries that took effect, or that are duplicates of one. */
export const effectiveStatuses = deliveryStatuses.filter(
  (status) => deliveryStatusFacts[status].effect === 'done',
);

/** Deliveries that changed no contact: kept, and can be replayed. */
export const ineffectiveStatuses = deliveryStatuses.filter(
  (status) => deliveryStatusFacts[status].effect === 'none',
);

/** Deliveries whose credits count. */
export const creditedStatuses = deliveryStatuses.filter(
  (status) => deliveryStatusFacts[status].countsCredits,
);

/** Why a readable delivery is quarantined. */
export const ofAnotherCall = 'no person in it belongs to this call';
