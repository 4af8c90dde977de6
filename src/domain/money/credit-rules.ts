import { parseCredits, wholeCredits, type Credits } from './decimal.ts';
import { Problem, exitCodes } from '../problem.ts';

/** What is asked for about each person, as far as it has a price. */
export interface Ask {
  /**
   * `email` costs nothing beyond the record it belongs to; `phone` costs eight credits where a mobile phone comes back.
   */
  readonly reveal?: readonly string[];
  /** Look-ups at further vendors have no fixed price: any entry needs `maxCreditsPerPerson`. */
  readonly waterfall?: readonly string[];
  /** Maximum credits per person, set by the run's owner; applies only with a waterfall. */
  readonly maxCreditsPerPerson?: Credits | undefined;
}

/** A run's options, as far as they have a price; the ceiling is kept as text in the database. */
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

/** Limits of the interface document: 1 credit for demographics or email, 8 more when a mobile phone is returned. */
const record = wholeCredits(1);
const mobilePhone = wholeCredits(8);

/** Until a team has a history of its own: seven people in ten are found, three in ten with a mobile phone. */
const foundInHundred = 70n;
const mobileInHundred = 30n;

/**
 * The most that one person can cost: what is reserved before a call.
 *
 * @throws Problem `credits.no-ceiling` where a waterfall is asked for without a ceiling
 */
export function worstCaseCredits(ask: Ask): Credits {
  const table = record + (asksFor(ask, 'phone') ? mobilePhone : 0n);
  const ceiling = waterfallCeiling(ask);
  return ceiling > table ? ceiling : table;
}

/**
 * The most that a call can still cost in all once its answer is there: what the answer was billed for, and a mobile
 * phone for everybody who was found. Only phones have a price that does not depend on a vendor.
 *
 * @param answered what the answer says that it cost
 * @param found people in the answer
 */
export function worstCaseWithPhones(answered: Credits, found: number): Credits {
  return answered + mobilePhone * BigInt(found);
}

/**
 * The most that a delivery can state as its price and be believed: twice what its call can cost by the interface's
 * prices or the ceiling of a waterfall. A plan can have other prices than the document.
 *
 * @param people who were asked for
 * @returns undefined for a waterfall without a ceiling, which can cost anything
 */
export function mostCredible(ask: Ask, people: number): Credits | undefined {
  if ((ask.waterfall?.length ?? 0) > 0 && ask.maxCreditsPerPerson === undefined) return undefined;
  return 2n * worstCaseCredits(ask) * BigInt(people);
}

/** What one person costs on average as long as nothing better is known. A waterfall counts in full. */
export function expectedCredits(ask: Ask): Credits {
  const table =
    (record * foundInHundred) / 100n + (asksFor(ask, 'phone') ? (mobilePhone * mobileInHundred) / 100n : 0n);
  const ceiling = waterfallCeiling(ask);
  return ceiling > table ? ceiling : table;
}

/** The least that one person can cost: a miss is free, whatever was asked. */
export function minimumCredits(_ask: Ask): Credits {
  return 0n;
}

function asksFor(ask: Ask, kind: 'email' | 'phone'): boolean {
  return ask.reveal?.includes(kind) ?? false;
}

function waterfallCeiling(ask: Ask): Credits {
  if ((ask.waterfall?.length ?? 0) === 0) return 0n;
  if (ask.maxCreditsPerPerson === undefined) {
    throw new Problem('credits.no-ceiling', 'a waterfall has no fixed price, and no ceiling is set', {
      next: 'say what one person may cost at most, or leave the waterfall out',
      exitCode: exitCodes.usage,
    });
  }
  return ask.maxCreditsPerPerson;
}
