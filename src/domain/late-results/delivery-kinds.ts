import { serviceCapabilities } from '../service-capabilities.ts';

/** The kinds of deliveries and of late results. `readLateResult` recognises the kind of a delivery by its payload. */
export const {
  deliveryKinds,
  lateKinds,
  resultsKeptSeconds: resultsKeptByServiceSeconds,
} = serviceCapabilities;

export type DeliveryKind = keyof typeof deliveryKinds;

export const deliveryKindNames = Object.keys(deliveryKinds) as readonly DeliveryKind[];

/** The lists of values that a person in a delivery has. */
export type LateValues = 'phones' | 'emails';

/** A kind of result that arrives after the answer of its call. */
export type LateKind = keyof typeof lateKinds;

/** Names of the kinds of late results, and of the groups of fields that arrive late and have their own price. */
export const lateKindNames = Object.keys(lateKinds) as readonly LateKind[];

/** The kinds of late results that a kind of delivery contains. */
export function lateKindsInDelivery(delivery: DeliveryKind): LateKind[] {
  return lateKindNames.filter((kind) => lateKinds[kind].deliveredBy === delivery);
}

/** The names that `--reveal` and `--waterfall` accept, in the order in which a run stores them. */
export const extraNames = { reveal: ['email', 'phone'], waterfall: ['email', 'phone'] } as const;

/** The names that `--reveal` or `--waterfall` accepts. */
export type ExtraNames<Name extends keyof typeof extraNames> = readonly (typeof extraNames)[Name][number][];

/** What a run requests in addition to the record of a person. */
export interface RequestedExtras {
  readonly reveal: readonly string[];
  readonly waterfall: readonly string[];
}

/** The kinds of late results that these extras request; empty if the answer contains all results. */
export function lateKindsRequestedBy(extras: RequestedExtras): LateKind[] {
  return lateKindNames.filter((kind) => extras[lateKinds[kind].option].includes(lateKinds[kind].entry));
}

/** True if a run with these extras requests phones. Otherwise its contacts only have phones of earlier runs. */
export function requestsPhones(extras: RequestedExtras): boolean {
  return lateKindsRequestedBy(extras).some((kind) => lateKinds[kind].values === 'phones');
}

/** The kind of a delivery: the only kind that the run requested, otherwise what the payload states. */
export function deliveryKindOf(stated: DeliveryKind, extras: RequestedExtras): DeliveryKind {
  const [only, ...others] = new Set(lateKindsRequestedBy(extras).map((kind) => lateKinds[kind].deliveredBy));
  return only === undefined || others.length > 0 ? stated : only;
}

/** The groups of fields that a run requests. Each has its own lookups: the profile may be fresh and the phone not. */
export function requestedFieldGroups(extras: RequestedExtras): string[] {
  return [
    'profile',
    ...(extras.reveal.includes('email') ? ['personal_email'] : []),
    ...lateKindsRequestedBy(extras),
  ];
}

/** Groups of phone fields. Calls leave them out for people who opted out of calls. */
export const phoneFieldGroups: readonly string[] = lateKindNames.filter(
  (kind) => lateKinds[kind].values === 'phones',
);

/** Returns the extras of a run without some groups of fields that arrive late. */
export function withoutFieldGroups<Extras extends RequestedExtras>(
  extras: Extras,
  groups: readonly string[],
): Extras {
  const leftOut = lateKindNames.filter((kind) => groups.includes(kind)).map((kind) => lateKinds[kind]);
  const withoutLeftOut = (option: keyof RequestedExtras): string[] =>
    extras[option].filter((entry) => !leftOut.some((kind) => kind.option === option && kind.entry === entry));
  return { ...extras, reveal: withoutLeftOut('reveal'), waterfall: withoutLeftOut('waterfall') };
}

/** What an answer states about late results. A field is undefined if the answer does not state it. */
interface LateAnnouncement {
  /** Number of people that the service found. */
  readonly found: number;
  /** `phone_enrichment.status`: `pending`, or `skipped` if the delivery of an earlier request has the phones. */
  readonly phoneStatus: string | undefined;
  /** `waterfall.status`: `accepted`, `partial_accepted`, `failed`. */
  readonly waterfallStatus: string | undefined;
}

/**
 * The kinds of late results to await: none without found people, and none after `skipped`, `failed` or a refused
 * waterfall. Phones are awaited if the answer is silent, because the interface document shows no such member.
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

/** Statuses of a delivery in the inbox. These names are part of the public interface. */
export const deliveryStatuses = ['received', 'applied', 'duplicate', 'quarantined'] as const;

export type DeliveryStatus = (typeof deliveryStatuses)[number];
