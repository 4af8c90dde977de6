import type { Credits } from '../money/decimal.ts';
import type { DeliveredPart } from './delivered-part.ts';

/** A body with the price that it states for its part. */
export interface PricedPart extends DeliveredPart {
  /** Undefined: the body states no readable price. */
  readonly credits: Credits | undefined;
}

export interface LateBill {
  /** Minimum cost of the bodies together. */
  readonly credits: Credits;
  /** False: the bodies may have cost more, so the call is not settled automatically. */
  readonly certain: boolean;
  /** Number of bodies whose prices count. */
  readonly bodies: number;
  /** False: no body states the price of some results. */
  readonly hasPrices: boolean;
}

interface PricedBill extends Omit<LateBill, 'hasPrices'> {
  /** The searches that the bill includes, one bit each. */
  readonly searches: bigint;
}

/** The price of a set of results. */
interface PricedSet {
  /** The results, one bit each; of a body without results, its searches. */
  readonly bits: bigint;
  /** The searches that the price includes, one bit each. */
  readonly searches: bigint;
  readonly credits: Credits;
}

/** Maximum number of different bodies for a call of ten people; more are an attack or a fault. */
const mostBodies = 200;

/**
 * The cost of all bodies of a call. The price of a body is the price of its part, the results that it has values for.
 * In these examples, A and B are two results of a call:
 *
 * - bodies with the same part are one bill sent again: the higher price counts. A for 8, A for 8: 8.
 * - bodies with different parts cost their sum. A for 8, B for 8: 16.
 * - a body that contains the parts of other bodies replaces them, if it costs at least as much as they do. A for 8, B
 *   for 8, AB for 16: 16.
 * - if such a body costs less, the others count. A for 8, B for 8, AB for 8: 16. If the body also has more results than
 *   the others, the bill is uncertain. A for 8, AB for 4: at least 8.
 * - other overlaps, and parts for which no body states a price, make the bill uncertain. AB for 16, BC for 16: at least
 *   16.
 *
 * The price of a body without results is the price of the search, and is added, unless another body is about the same
 * people and more: then the rules for parts and wholes hold. A for 8, a search for B for 1, A and B without results for
 * 9: 9.
 */
export function lateBill(parts: readonly PricedPart[]): LateBill {
  const bitOf = bitsByEntry();
  const priced = new Map<string, PricedSet>();
  let brought = 0n;
  let unpriced = 0n;
  for (const { covers, brings, credits } of parts) {
    if (credits === undefined) {
      unpriced |= bitOf(brings);
      continue;
    }
    if (brings.length === 0 && credits === 0n) continue;
    const searches = bitOf(covers.map((entry) => `looked for ${entry}`));
    const bits = brings.length > 0 ? bitOf(brings) : searches;
    brought |= bits;
    const key = `${bits} ${searches}`;
    priced.set(key, { bits, searches, credits: max(credits, priced.get(key)?.credits ?? 0n) });
  }
  const hasPrices = (unpriced & ~brought) === 0n;
  // Smaller sets first: the bill of a set needs the bills of the sets inside. No body with results is inside a search.
  const bySize = [...priced.values()].toSorted(
    (one, other) =>
      Number(isSearch(other)) - Number(isSearch(one)) ||
      sizeOf(one.bits) - sizeOf(other.bits) ||
      sizeOf(one.searches) - sizeOf(other.searches),
  );
  if (bySize.length > mostBodies)
    return { credits: max(...bySize.map(({ credits }) => credits)), certain: false, bodies: 1, hasPrices };
  const bills: BillsBySet = new Map();
  for (const [at, set] of bySize.entries())
    bills.set(
      set,
      billOfWhole(
        set,
        bySize.slice(0, at).filter((part) => isIn(part, set)),
        bills,
      ),
    );
  const { credits, certain, bodies } = billOf(bySize, bills);
  return { credits, certain: certain && hasPrices, bodies, hasPrices };
}

/** The bill of each set: of the body with these results, and of the bodies with some of them. */
type BillsBySet = Map<PricedSet, PricedBill>;

/**
 * The bill of sets together: the sum of the sets that no later set contains. A later set contains the searches of its
 * bill: if its parts count, their searches.
 *
 * @param sets smaller sets first
 * @param bills has each of the sets
 */
function billOf(sets: readonly PricedSet[], bills: BillsBySet): PricedBill {
  const largest: (Pick<PricedSet, 'bits'> & PricedBill)[] = [];
  for (const set of sets.toReversed())
    if (!largest.some((other) => isIn(set, other))) largest.push({ bits: set.bits, ...bills.get(set)! });
  return {
    ...sumOfDisjoint(largest),
    searches: largest.reduce((bits, { searches }) => bits | searches, 0n),
    certain: areDisjoint(largest) && largest.every(({ certain }) => certain),
  };
}

/** @param inside the sets that the whole contains, smaller sets first @param bills has each of them */
function billOfWhole(whole: PricedSet, inside: readonly PricedSet[], bills: BillsBySet): PricedBill {
  const alone = { credits: whole.credits, searches: whole.searches, certain: true, bodies: 1 };
  if (inside.length === 0) return alone;
  const parts = billOf(inside, bills);
  if (parts.credits <= whole.credits) return alone;
  const together = inside.reduce((bits, part) => bits | part.bits, 0n);
  return { ...parts, certain: parts.certain && (whole.bits & ~together) === 0n };
}

/** Sums the highest prices of sets that have no results in common: a lower bound of the cost. */
function sumOfDisjoint(
  sets: readonly (Pick<PricedSet, 'bits' | 'credits'> & Pick<PricedBill, 'bodies'>)[],
): Pick<PricedBill, 'credits' | 'bodies'> {
  let taken = 0n;
  const sum = { credits: 0n, bodies: 0 };
  for (const { bits, credits, bodies } of sets.toSorted((one, other) =>
    Number(other.credits - one.credits),
  )) {
    if (credits === 0n || (taken & bits) !== 0n) continue;
    taken |= bits;
    sum.credits += credits;
    sum.bodies += bodies;
  }
  return sum;
}

function areDisjoint(sets: readonly Pick<PricedSet, 'bits'>[]): boolean {
  let seen = 0n;
  return sets.every(({ bits }) => {
    const overlaps = (seen & bits) !== 0n;
    seen |= bits;
    return !overlaps;
  });
}

/** Whether a body is a search without results. */
function isSearch({ bits, searches }: PricedSet): boolean {
  return bits === searches;
}

function isIn(part: PricedSet, whole: Pick<PricedSet, 'bits' | 'searches'>): boolean {
  return (part.bits & ~(whole.bits | whole.searches)) === 0n;
}

function sizeOf(bits: bigint): number {
  let size = 0;
  for (let rest = bits; rest > 0n; rest &= rest - 1n) size += 1;
  return size;
}

function max(...credits: readonly Credits[]): Credits {
  return credits.reduce((most, each) => (each > most ? each : most), 0n);
}

function bitsByEntry(): (entries: readonly string[]) => bigint {
  const places = new Map<string, bigint>();
  return (entries) =>
    entries.reduce((bits, entry) => {
      const known = places.get(entry);
      const bit = known ?? 1n << BigInt(places.size);
      if (known === undefined) places.set(entry, bit);
      return bits | bit;
    }, 0n);
}
