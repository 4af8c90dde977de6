import { parseCredits, wholeCredits, type Credits } from './decimal.ts';
import { Problem, exitCodes } from '../problem.ts';

/** The requested data of each person that have a price. */
export interface Ask {
  /** `email` is included in the record's price; `phone` costs eight credits if a mobile phone is returned. */
  readonly reveal?: readonly string[];
  /** Lookups at further vendors have no fixed price, so any entry needs `maxCreditsPerPerson`. */
  readonly waterfall?: readonly string[];
  /** Maximum credits per person, set by the run's owner; applies only with a waterfall. */
  readonly maxCreditsPerPerson?: Credits | undefined;
}

/** The priced part of a run's options; the database stores the ceiling as text. */
export function askOf(options: {
  readonly reveal: readonly string[];
  readonly waterfall: readonly string[];
  readonly maxCreditsPerPerson: string | null;
}): Ask {
  const { reveal, waterfall, maxCreditsPerPerson } = options;
  return {
    reveal,
    waterfall,
    maxCreditsPerPerson: maxCreditsPerPerson === null ? undefined : parseCredits(maxCreditsPerPerson),
  };
}

/**
 * Prices of the interface document: 1 credit for demographics or email, 8 more if a mobile phone is returned.
 */
const record = wholeCredits(1);
const mobilePhone = wholeCredits(8);

/** Assumed before a team has a history: 70 % of people are found, 30 % have a mobile phone. */
const foundInHundred = 70n;
const mobileInHundred = 30n;

/**
 * The maximum cost of one person, which a call reserves.
 *
 * @throws Problem `credits.no-ceiling` for a waterfall without a ceiling
 */
export function worstCaseCredits(ask: Ask): Credits {
  const table = record + (asksFor(ask, 'phone') ? mobilePhone : 0n);
  const ceiling = waterfallCeiling(ask);
  return ceiling > table ? ceiling : table;
}

/**
 * The maximum total cost of a call after its answer: the billed credits, and a mobile phone for every found
 * person. Only phones have a price that does not depend on a vendor.
 *
 * @param answered credits that the answer reports
 * @param found people in the answer
 */
export function worstCaseWithPhones(answered: Credits, found: number): Credits {
  return answered + mobilePhone * BigInt(found);
}

/**
 * The maximum price that a delivery can credibly state: twice the call's maximum cost, because a plan can
 * have other prices than the interface document.
 *
 * @param people people of the call
 * @returns undefined for a waterfall without a ceiling, which can cost any amount
 */
export function maxCredibleCredits(ask: Ask, people: number): Credits | undefined {
  if ((ask.waterfall?.length ?? 0) > 0 && ask.maxCreditsPerPerson === undefined) return undefined;
  return 2n * worstCaseCredits(ask) * BigInt(people);
}

/** The average cost of one person, assumed without a history. A waterfall counts with its ceiling. */
export function expectedCredits(ask: Ask): Credits {
  const table =
    (record * foundInHundred) / 100n + (asksFor(ask, 'phone') ? (mobilePhone * mobileInHundred) / 100n : 0n);
  const ceiling = waterfallCeiling(ask);
  return ceiling > table ? ceiling : table;
}

/** The minimum cost of one person: the service bills no miss. */
export function minimumCredits(_ask: Ask): Credits {
  return 0n;
}

function asksFor(ask: Ask, kind: 'email' | 'phone'): boolean {
  return ask.reveal?.includes(kind) ?? false;
}

function waterfallCeiling(ask: Ask): Credits {
  if ((ask.waterfall?.length ?? 0) === 0) return 0n;
  if (ask.maxCreditsPerPerson === undefined) {
    throw new Problem(
      'credits.no-ceiling',
      'a waterfall has no fixed price, and the run has no maximum per person',
      {
        next: 'add --max-credits-per-person, or remove --waterfall',
        exitCode: exitCodes.usage,
      },
    );
  }
  return ask.maxCreditsPerPerson;
}
