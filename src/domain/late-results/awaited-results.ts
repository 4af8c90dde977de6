/**
 * What can come after the answer: the option of a run that asks for it, and the member of an answer that announces
 * it.
 */
const lateKinds = {
  phone: { asked: ({ reveal }) => reveal.includes('phone'), announcedAs: 'phones' },
  waterfall_email: { asked: ({ waterfall }) => waterfall.includes('email'), announcedAs: 'waterfall' },
  waterfall_phone: { asked: ({ waterfall }) => waterfall.includes('phone'), announcedAs: 'waterfall' },
} as const satisfies Readonly<
  Record<string, { asked: (extras: AskedExtras) => boolean; announcedAs: 'phones' | 'waterfall' }>
>;

export type LateKind = keyof typeof lateKinds;

const allLateKinds = Object.keys(lateKinds) as readonly LateKind[];

/** Groups of fields that come later and have a price of their own. */
export const lateFieldGroups: readonly string[] = allLateKinds;

/** What a run asks for beyond the record itself. */
export interface AskedExtras {
  readonly reveal: readonly string[];
  readonly waterfall: readonly string[];
}

/** The results that come later for a run that asks for these extras; none where everything comes with the answer. */
export function lateKindsOf(extras: AskedExtras): LateKind[] {
  return allLateKinds.filter((kind) => lateKinds[kind].asked(extras));
}

/**
 * The groups of fields that a run asks for: what freshness is remembered by. A person whose profile is fresh is asked
 * for again by a run that also wants the phone.
 */
export function askedFieldGroups(extras: AskedExtras): string[] {
  return ['profile', ...(extras.reveal.includes('email') ? ['personal_email'] : []), ...lateKindsOf(extras)];
}

/** The groups that hold phones: people who opted out of calls are not asked for them. */
export const phoneGroups: readonly string[] = ['phone', 'waterfall_phone'] satisfies readonly LateKind[];

/** What is asked for without groups of fields that come later. */
export function withoutFieldGroups<Extras extends AskedExtras>(
  extras: Extras,
  groups: readonly string[],
): Extras {
  return {
    ...extras,
    reveal: extras.reveal.filter((each) => each !== 'phone' || !groups.includes('phone')),
    waterfall: extras.waterfall.filter((each) => !groups.includes(`waterfall_${each}`)),
  };
}

/** What an answer says of the results that come later; undefined where it says nothing. */
export interface LateAnnouncement {
  /** Number of people in the answer. */
  readonly found: number;
  /** `phone_enrichment.status`: `pending`, or `skipped` where an earlier request's delivery serves. */
  readonly phoneStatus: string | undefined;
  /** `waterfall.status`: `accepted`, `partial_accepted`, `failed`. */
  readonly waterfallStatus: string | undefined;
}

/**
 * What is still to come after an answer.
 *
 * Phones come for people who were found. Where the service says nothing (the interface document shows no such member)
 * they are awaited; `skipped` and `failed` mean that nothing will be delivered for this request. A waterfall that is
 * not accepted is an answer without any delivery, ever.
 */
export function awaitedKinds(asked: readonly LateKind[], answer: LateAnnouncement): LateKind[] {
  const { found, phoneStatus, waterfallStatus } = answer;
  const phones = found > 0 && phoneStatus !== 'skipped' && phoneStatus !== 'failed';
  const waterfall =
    waterfallStatus === undefined || waterfallStatus === 'accepted' || waterfallStatus === 'partial_accepted';
  const comes = { phones, waterfall };
  return asked.filter((kind) => comes[lateKinds[kind].announcedAs]);
}

/**
 * The service keeps results for 30 days. What has not come by then never will, and a token is worth nothing any more.
 */
export const keptByServiceSeconds = 30 * 86_400;
