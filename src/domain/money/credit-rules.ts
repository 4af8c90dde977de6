import { parseStoredCredits, creditsFromWhole, type Credits } from './decimal.ts';
import { UsageProblem } from '../problem.ts';
import { serviceCapabilities } from '../service-capabilities.ts';

/** The requested data that has a price per person. */
export interface PricedRequest {
  /** Reveals: `email` is in the record's price; `phone` costs eight credits if a mobile phone is returned. */
  readonly reveal?: readonly string[];
  /** Requested waterfalls. Lookups at further vendors have no fixed price, so any entry needs `maxCreditsPerPerson`. */
  readonly waterfall?: readonly string[];
  /** Maximum credits per person, set by the operator. It applies only with a waterfall. */
  readonly maxCreditsPerPerson?: Credits | undefined;
}

/** Returns the priced part of a run's options. The database stores the maximum credits as text. */
export function pricedRequestOf(options: {
  readonly reveal: readonly string[];
  readonly waterfall: readonly string[];
  readonly maxCreditsPerPerson: string | null;
}): PricedRequest {
  const { reveal, waterfall, maxCreditsPerPerson } = options;
  return {
    reveal,
    waterfall,
    maxCreditsPerPerson: maxCreditsPerPerson === null ? undefined : parseStoredCredits(maxCreditsPerPerson),
  };
}

const record = creditsFromWhole(serviceCapabilities.prices.record);
const mobilePhone = creditsFromWhole(serviceCapabilities.prices.mobilePhone);

/** Percentages without earlier calls: people who are found, and those of them with a mobile phone. */
const assumed = {
  found: { low: 50n, expected: 70n, high: 90n },
  mobile: { low: 15n, expected: 30n, high: 50n },
} as const;

/**
 * What a call reserves for a person: the record, a mobile phone if requested, or a waterfall's higher maximum.
 *
 * @throws Problem `credits.no-ceiling` for a waterfall without a maximum
 */
export function worstCaseCredits(ask: PricedRequest): Credits {
  const fixedPrice = record + (asksForPhones(ask) ? mobilePhone : 0n);
  const ceiling = waterfallCeiling(ask);
  return ceiling > fixedPrice ? ceiling : fixedPrice;
}

/**
 * The maximum cost of a call after its answer: the answered credits, and a mobile phone for each found person. Only
 * phones have a price that does not depend on a vendor, so waterfalls are left out.
 */
export function worstCaseWithPhones(answered: Credits, found: number): Credits {
  return answered + mobilePhone * BigInt(found);
}

/** The maximum credible price of a person in an answer. A higher price is an error of the service. */
export const maxCredibleCreditsPerPerson = creditsFromWhole(1_000);

/**
 * The maximum credible price in a delivery: twice the call's maximum, because a contract can have other prices than the
 * interface document; undefined for a waterfall without a maximum.
 */
export function maxCredibleDeliveryCredits(ask: PricedRequest, people: number): Credits | undefined {
  if ((ask.waterfall?.length ?? 0) > 0 && ask.maxCreditsPerPerson === undefined) return undefined;
  return 2n * worstCaseCredits(ask) * BigInt(people);
}

/** An expected cost and its range. */
export interface ExpectedCredits {
  readonly low: Credits;
  readonly expected: Credits;
  readonly high: Credits;
}

/** Compares settled credits with the range that a plan expected. All values are decimal text. */
export function compareWithExpectedRange(
  settled: string,
  { low, high }: { readonly low: string; readonly high: string },
): string {
  const place = Number(settled) < Number(low) ? 'below' : Number(settled) > Number(high) ? 'above' : 'within';
  return `${place} the expected range`;
}

/** The expected cost of one person if there are no earlier calls. A waterfall is assumed to cost its maximum. */
export function assumedCreditsPerPerson(ask: PricedRequest): ExpectedCredits {
  const mobile = asksForPhones(ask) ? mobilePhone : 0n;
  const ceiling = waterfallCeiling(ask);
  const table = (level: keyof ExpectedCredits): Credits =>
    (record * assumed.found[level] + mobile * assumed.mobile[level]) / 100n;
  const atLeast = (credits: Credits): Credits => (ceiling > credits ? ceiling : credits);
  return { low: table('low'), expected: atLeast(table('expected')), high: atLeast(table('high')) };
}

/** Shares in percent: people that the service did not know in an earlier call but knows in the next call. */
const missedAndFound = { expected: 10n, high: 40n };

/** The expected cost of people that earlier calls did not find: most are not found again and cost nothing. */
export function expectedCreditsOfNotFound(perFoundPerson: Credits, people: number): ExpectedCredits {
  const all = perFoundPerson * BigInt(people);
  return {
    low: 0n,
    expected: (all * missedAndFound.expected) / 100n,
    high: (all * missedAndFound.high) / 100n,
  };
}

/** A sentence with the percentages that a plan assumes without earlier calls. */
export function describeAssumedPrice(ask: PricedRequest): string {
  const share = ({ low, expected, high }: ExpectedCredits): string => `${expected}% (${low} to ${high}%)`;
  return [
    `assumed, because no settled call had the same options: ${share(assumed.found)} of people are found`,
    ...(asksForPhones(ask) ? [`${share(assumed.mobile)} have a mobile phone`] : []),
    ...(waterfallCeiling(ask) > 0n ? ['a waterfall costs its maximum'] : []),
  ].join(', ');
}

/**
 * The expected cost by earlier settled calls. The range is twice the standard error of the difference between the means
 * of the earlier and the planned calls.
 *
 * @param history.deviation standard deviation, between calls, of the credits per person
 */
export function expectedCreditsFromHistory(
  history: { readonly calls: number; readonly perPerson: Credits; readonly deviation: number },
  planned: { readonly people: number; readonly calls: number },
): ExpectedCredits {
  const expected = history.perPerson * BigInt(planned.people);
  const error = 2 * history.deviation * Math.sqrt(1 / history.calls + 1 / Math.max(1, planned.calls));
  const margin = BigInt(Math.round(error * planned.people * Number(creditsFromWhole(1))));
  return { low: expected > margin ? expected - margin : 0n, expected, high: expected + margin };
}

function asksForPhones(ask: PricedRequest): boolean {
  return ask.reveal?.includes('phone') ?? false;
}

/**
 * The operator's maximum per person for a waterfall; 0 without one.
 *
 * @throws Problem `credits.no-ceiling` for a waterfall without a maximum
 */
function waterfallCeiling(ask: PricedRequest): Credits {
  if ((ask.waterfall?.length ?? 0) === 0) return 0n;
  if (ask.maxCreditsPerPerson === undefined) {
    throw new UsageProblem(
      'credits.no-ceiling',
      'a waterfall has no fixed price, and the run has no maximum per person',
      { where: '--max-credits-per-person', next: 'add this flag, such as 20, or remove --waterfall' },
    );
  }
  return ask.maxCreditsPerPerson;
}
