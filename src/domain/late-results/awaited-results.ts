/** What can come after the answer, by the parameter that asks for it. */
const lateKinds = ['phone', 'waterfall_email', 'waterfall_phone'] as const;

export type LateKind = (typeof lateKinds)[number];

/** What a run asks for beyond the record itself. */
export interface AskedExtras {
  readonly reveal: readonly string[];
  readonly waterfall: readonly string[];
}

/** The results that come later for a run that asks for these extras; none where everything comes with the answer. */
export function lateKindsOf({ reveal, waterfall }: AskedExtras): LateKind[] {
  return lateKinds.filter((kind) =>
    kind === 'phone' ? reveal.includes('phone') : waterfall.includes(kind.slice('waterfall_'.length)),
  );
}

/**
 * The groups of fields that a run asks for: what freshness is remembered by. Somebody whose profile is fresh is asked for
 * again by a run that also wants the phone.
 */
export function askedFieldGroups(extras: AskedExtras): string[] {
  return ['profile', ...(extras.reveal.includes('email') ? ['personal_email'] : []), ...lateKindsOf(extras)];
}

/** What an answer says of the results that come later; undefined where it says nothing. */
export interface LateAnnouncement {
  /** People in the answer, whoever they are. */
  readonly found: number;
  /** `phone_enrichment.status`: `pending`, or `skipped` where an earlier request's delivery serves. */
  readonly phoneStatus: string | undefined;
  /** `waterfall.status`: `accepted`, `partial_accepted`, `failed`. */
  readonly waterfallStatus: string | undefined;
}

/**
 * What is still to come after an answer.
 *
 * Phones come for people who were found. Where the service says nothing (the interface document shows no such member) they
 * are awaited; `skipped` and `failed` mean that nothing will be delivered for this request. A waterfall that is not
 * accepted is an answer without any delivery, ever.
 */
export function awaitedKinds(asked: readonly LateKind[], answer: LateAnnouncement): LateKind[] {
  const { found, phoneStatus, waterfallStatus } = answer;
  const phonesCome = found > 0 && phoneStatus !== 'skipped' && phoneStatus !== 'failed';
  const waterfallComes =
    waterfallStatus === undefined || waterfallStatus === 'accepted' || waterfallStatus === 'partial_accepted';
  return asked.filter((kind) => (kind === 'phone' ? phonesCome : waterfallComes));
}

/** A person in a delivery, as far as completeness is concerned. */
export interface DeliveredScope {
  /** How many different people deliveries of this kind have named so far, this one included. */
  readonly people: number;
  /** People whom the body counts as missing and does not name. */
  readonly missing: number;
}

/**
 * Whether the results of a request are all there: everybody who was found is named, or counted as missing. A service may
 * deliver a request in several bodies, and settling at the first of them would give back credits that the others are billed
 * for. What a body says of the size of the whole request proves nothing: a part may say it as well, and so may what a poll
 * returns.
 *
 * @param found people of the answer
 */
export function isComplete(found: number, scope: DeliveredScope): boolean {
  return scope.people + scope.missing >= found;
}
