import type { Credits } from '../money/decimal.ts';
import type { DeliveredResults } from './expected-results.ts';

/** The results of a delivery with the price that it states for them. */
export interface PricedResults extends DeliveredResults {
  /** Undefined: it states no readable price. */
  readonly credits: Credits | undefined;
}

export interface LateBill {
  /** What the deliveries cost together; if that is not certain, the highest price of one of them. */
  readonly credits: Credits;
  /** False: the prices do not add up, so the call is not settled automatically. */
  readonly certain: boolean;
  /** Number of deliveries whose prices count. */
  readonly deliveries: number;
}

interface PricedSet {
  readonly results: ReadonlySet<string>;
  readonly credits: Credits;
}

/** Maximum number of different deliveries for a call of ten people; more are an attack or a fault. */
const mostDeliveries = 200;

/**
 * The cost of all deliveries of a call. A price is the price of the results that have values; without a value, of the
 * search. Prices of different results are added. The same results count once, with the highest price. A whole counts
 * instead of its parts if it costs at least as much as they do. Any other overlap, and results without a price, make
 * the bill uncertain.
 */
export function lateBill(deliveries: readonly PricedResults[]): LateBill {
  const priced = deliveries.flatMap(({ credits, ...results }) =>
    credits === undefined || (credits === 0n && results.brings.length === 0) ? [] : [{ ...results, credits }],
  );
  const sets = new Map<string, PricedSet>();
  for (const { covers, brings, credits } of priced) {
    const results = brings.length > 0 ? brings : covers.map((result) => `search ${result}`);
    const key = results.toSorted().join(' ');
    sets.set(key, { results: new Set(results), credits: max(credits, sets.get(key)?.credits ?? 0n) });
  }
  const searches = new Set(priced.flatMap(({ covers, brings }) => (brings.length === 0 ? covers : [])));
  // The price of a body with values can include the search that another body states alone.
  const areApart = priced.every(
    ({ covers, brings }) => brings.length === 0 || !covers.some((each) => searches.has(each)),
  );
  const billed = new Set(priced.flatMap(({ brings }) => brings));
  const hasPrices = deliveries.every(({ brings }) => brings.every((result) => billed.has(result)));
  const isSum = areApart && hasPrices && sets.size <= mostDeliveries;
  return isSum ? billOf([...sets.values()]) : uncertain([...sets.values()]);
}

function billOf(sets: readonly PricedSet[]): LateBill {
  const wholes = sets.filter((set) => !sets.some((other) => other !== set && isIn(set, other)));
  const results = wholes.flatMap((whole) => [...whole.results]);
  const addsUp =
    new Set(results).size === results.length &&
    wholes.every((whole) => {
      const parts = billOf(sets.filter((set) => set !== whole && isIn(set, whole)));
      return parts.certain && parts.credits <= whole.credits;
    });
  if (!addsUp) return uncertain(sets);
  const credits = wholes.reduce((sum, whole) => sum + whole.credits, 0n);
  return { credits, certain: true, deliveries: wholes.length };
}

function uncertain(sets: readonly PricedSet[]): LateBill {
  return { credits: max(...sets.map(({ credits }) => credits)), certain: false, deliveries: 1 };
}

function isIn(part: PricedSet, whole: PricedSet): boolean {
  return [...part.results].every((result) => whole.results.has(result));
}

function max(...credits: readonly Credits[]): Credits {
  return credits.reduce((most, each) => (each > most ? each : most), 0n);
}
