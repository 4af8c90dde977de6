import { serviceCapabilities } from '../service-capabilities.ts';

/** The kinds of deliveries. `readLateResult` recognises them by their payload. */
export const {
  deliveryKinds,
  lateKinds,
  resultsKeptSeconds: resultsKeptByServiceSeconds,
} = serviceCapabilities;

export type DeliveryKind = keyof typeof deliveryKinds;

export const deliveryKindNames = Object.keys(deliveryKinds) as readonly DeliveryKind[];

/** The lists of values that a delivered person has. */
export type LateValues = 'phones' | 'emails';

/** A kind of results that arrive after an answer. */
export type LateKind = keyof typeof lateKinds;

/** The names of these kinds, and of the groups of fields that arrive later and have their own price. */
export const lateKindNames = Object.keys(lateKinds) as readonly LateKind[];

/** The kinds of results of a kind of deliveries. */
export function lateKindsInDelivery(delivery: DeliveryKind): LateKind[] {
  return lateKindNames.filter((kind) => lateKinds[kind].deliveredBy === delivery);
}

/** The names that `--reveal` and `--waterfall` accept, in the order in which a run stores them. */
export const extraNames = { reveal: ['email', 'phone'], waterfall: ['email', 'phone'] } as const;

/** The names that one of these options has. */
export type ExtraNames<Name extends keyof typeof extraNames> = readonly (typeof extraNames)[Name][number][];

/** What a run asks for beyond the record itself. */
export interface RequestedExtras {
  readonly reveal: readonly string[];
  readonly waterfall: readonly string[];
}

/** The kinds of late results that these extras ask for; empty if everything comes with the answer. */
export function lateKindsRequestedBy(extras: RequestedExtras): LateKind[] {
  return lateKindNames.filter((kind) => extras[lateKinds[kind].option].includes(lateKinds[kind].entry));
}

/**
 * The kind of a payload. If only one kind of deliveries was asked for, it is this kind. Otherwise the payload decides.
 *
 * @param stated kind that the members of the payload show
 */
export function deliveryKindOf(stated: DeliveryKind, extras: RequestedExtras): DeliveryKind {
  const [only, ...others] = new Set(lateKindsRequestedBy(extras).map((kind) => lateKinds[kind].deliveredBy));
  return only === undefined || others.length > 0 ? stated : only;
}

/**
 * The groups of fields that a run asks for. Lookups are recorded per group: a run with phones asks for a person
 * whose profile is fresh but whose phone is not.
 */
export function requestedFieldGroups(extras: RequestedExtras): string[] {
  return [
    'profile',
    ...(extras.reveal.includes('email') ? ['personal_email'] : []),
    ...lateKindsRequestedBy(extras),
  ];
}

/** Groups of phones. Calls leave them out for people who opted out of calls. */
export const phoneFieldGroups: readonly string[] = lateKindNames.filter(
  (kind) => lateKinds[kind].values === 'phones',
);

/** The extras without some groups of fields that arrive later. */
export function withoutFieldGroups<Extras extends RequestedExtras>(
  extras: Extras,
  groups: readonly string[],
): Extras {
  const leftOut = lateKindNames.filter((kind) => groups.includes(kind)).map((kind) => lateKinds[kind]);
  const withoutLeftOut = (option: keyof RequestedExtras): string[] =>
    extras[option].filter((entry) => !leftOut.some((kind) => kind.option === option && kind.entry === entry));
  return { ...extras, reveal: withoutLeftOut('reveal'), waterfall: withoutLeftOut('waterfall') };
}

/** What an answer says about late results; undefined if it says nothing. */
interface LateAnnouncement {
  /** Number of people that were found. */
  readonly found: number;
  /** `phone_enrichment.status`: `pending`, or `skipped` if the delivery of an earlier request has the phones. */
  readonly phoneStatus: string | undefined;
  /** `waterfall.status`: `accepted`, `partial_accepted`, `failed`. */
  readonly waterfallStatus: string | undefined;
}

/**
 * The kinds of results that are awaited after an answer.
 *
 * The service applies reveal and waterfall to all people found, so nothing is awaited without them. Phones are awaited
 * even if the answer does not mention them, because the interface document shows no such member. `skipped` and `failed`
 * mean that this request has no delivery, and so does a waterfall that was not accepted.
 */
export function lateKindsToAwait(asked: readonly LateKind[], answer: LateAnnouncement): LateKind[] {
  const { found, phoneStatus, waterfallStatus } = answer;
  if (found === 0) return [];
  const phones = phoneStatus !== 'skipped' && phoneStatus !== 'failed';
  const waterfall =
    waterfallStatus === undefined || waterfallStatus === 'accepted' || waterfallStatus === 'partial_accepted';
  const comes: Readonly<Record<DeliveryKind, boolean>> = { phones, waterfall };
  return asked.filter((kind) => comes[lateKinds[kind].deliveredBy]);
}

/** Statuses of a delivery in the inbox. Part of the public surface. */
export const deliveryStatuses = ['received', 'applied', 'duplicate', 'quarantined'] as const;

export type DeliveryStatus = (typeof deliveryStatuses)[number];
