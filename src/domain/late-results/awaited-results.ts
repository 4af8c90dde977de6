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

/** The service keeps results for 30 days. What has not come by then never will, and a token is worth nothing any more. */
export const keptByServiceSeconds = 30 * 86_400;
