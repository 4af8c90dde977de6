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

type PricedBill = Omit<LateBill, 'hasPrices'>;

/** The price of a set of results. */
interface PricedSet {
  /** The results, one bit each. */
  readonly bits: bigint;
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
 * The price of a body without results is the price of the search, and is added.
 */
export function lateBill(parts: readonly PricedPart[]): LateBill {
  const bitOf = bitsByEntry();
  const priced = new Map<bigint, Credits>();
  let brought = 0n;
  let unpriced = 0n;
  for (const { covers, brings, credits } of parts) {
    if (credits === undefined) {
      unpriced |= bitOf(brings);
      continue;
    }
    if (brings.length === 0 && credits === 0n) continue;
    const bits = bitOf(brings.length > 0 ? brings : covers.map((entry) => `looked for ${entry}`));
    brought |= bits;
    priced.set(bits, max(credits, priced.get(bits) ?? 0n));
  }
  const hasPrices = (unpriced & ~brought) === 0n;
  if (priced.size > mostBodies)
    return { credits: max(...priced.values()), certain: false, bodies: 1, hasPrices };
  const bySize = [...priced]
    .map(([bits, credits]) => ({ bits, credits }))
    .toSorted((one, other) => sizeOf(one.bits) - sizeOf(other.bits));
  const bills: BillsBySet = new Map();
  // Smaller sets first: the bill of a set needs the bills of the sets inside.
  for (const set of bySize) bills.set(set.bits, billOfWhole(set, setsInside(set, bySize), bills));
  const bill = billOf(bySize, bills);
  return { ...bill, certain: bill.certain && hasPrices, hasPrices };
}

/** The bill of each set: of the body with these results, and of the bodies with some of them. */
type BillsBySet = Map<bigint, PricedBill>;

/** The bill of sets together: the sum of the sets that no other set contains. @param bills has each of the sets */
function billOf(sets: readonly PricedSet[], bills: BillsBySet): PricedBill {
  const largest = sets
    .filter((set) => !sets.some((other) => other.bits !== set.bits && isIn(set.bits, other.bits)))
    .map(({ bits }) => ({ bits, ...bills.get(bits)! }));
  return {
    ...sumOfDisjoint(largest),
    certain: areDisjoint(largest) && largest.every(({ certain }) => certain),
  };
}

/** @param inside the sets that the whole contains @param bills has each of them */
function billOfWhole(whole: PricedSet, inside: readonly PricedSet[], bills: BillsBySet): PricedBill {
  const alone = { credits: whole.credits, certain: true, bodies: 1 };
  if (inside.length === 0) return alone;
  const parts = billOf(inside, bills);
  if (parts.credits <= whole.credits) return alone;
  const together = inside.reduce((bits, part) => bits | part.bits, 0n);
  return { ...parts, certain: parts.certain && together === whole.bits };
}

function setsInside(whole: PricedSet, sets: readonly PricedSet[]): PricedSet[] {
  return sets.filter(({ bits }) => bits !== whole.bits && isIn(bits, whole.bits));
}

/** Sums the highest prices of sets that have no results in common: a lower bound of the cost. */
function sumOfDisjoint(
  sets: readonly (PricedSet & Pick<PricedBill, 'bodies'>)[],
): Omit<PricedBill, 'certain'> {
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

function areDisjoint(sets: readonly PricedSet[]): boolean {
  let seen = 0n;
  return sets.every(({ bits }) => {
    const overlaps = (seen & bits) !== 0n;
    seen |= bits;
    return !overlaps;
  });
}

function isIn(part: bigint, whole: bigint): boolean {
  return (part & whole) === part;
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
