import type { Credits } from '../money/decimal.ts';
import type { DeliveredPart } from './delivered-part.ts';

/** A body with the price that it states for its part. */
export interface PricedPart extends DeliveredPart {
  /** Undefined where the body does not state it, or in no form that can be read. */
  readonly credits: Credits | undefined;
}

export interface LateBill {
  /** The least that the bodies together cost. */
  readonly credits: Credits;
  /** False where they can have cost more: the call is not settled by itself then. */
  readonly certain: boolean;
  /** How many bodies have the prices that count. */
  readonly bodies: number;
}

/** The results that one or more bodies are about, as bits. */
interface PricedSet {
  readonly bits: bigint;
  readonly credits: Credits;
}

/** More different bodies than this for ten people are an attack or a fault. */
const mostBodies = 200;

/**
 * What the bodies of a call cost together. A body is believed about the part that it brings, and its price is the price
 * of that part:
 *
 * - bodies that bring the same part are one bill told again: the dearer counts;
 * - bodies that bring different parts cost their sum;
 * - a body that brings other bodies' parts and more counts instead of them, if it costs at least as much;
 * - where it costs less and brings no more than they do together, they count; where it brings more, the bill is
 *   uncertain;
 * - bodies that overlap otherwise, and parts of which no body states a price, leave the bill uncertain.
 *
 * What a body costs that brings nothing is the price of the search: it is added.
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
  if (priced.size > mostBodies) return { credits: max(...priced.values()), certain: false, bodies: 1 };
  const bySize = [...priced]
    .map(([bits, credits]) => ({ bits, credits }))
    .toSorted((one, other) => sizeOf(one.bits) - sizeOf(other.bits));
  const wholes: Wholes = new Map();
  for (const whole of bySize) wholes.set(whole.bits, billOfWhole(whole, setsInside(whole, bySize), wholes));
  const bill = billOf(bySize, wholes);
  return { ...bill, certain: bill.certain && (unpriced & ~brought) === 0n };
}

/** What each set costs with the bodies that bring parts of it. */
type Wholes = Map<bigint, LateBill>;

/** @param sets each different from the others @param wholes has each of them */
function billOf(sets: readonly PricedSet[], wholes: Wholes): LateBill {
  const bills = sets
    .filter((set) => !sets.some((other) => other.bits !== set.bits && isIn(set.bits, other.bits)))
    .map(({ bits }) => ({ bits, ...wholes.get(bits)! }));
  return {
    ...sumOfDisjoint(bills),
    certain: areDisjoint(bills) && bills.every(({ certain }) => certain),
  };
}

/** @param inside what bodies bring that are part of it @param wholes has each of them */
function billOfWhole(whole: PricedSet, inside: readonly PricedSet[], wholes: Wholes): LateBill {
  const alone = { credits: whole.credits, certain: true, bodies: 1 };
  if (inside.length === 0) return alone;
  const parts = billOf(inside, wholes);
  if (parts.credits <= whole.credits) return alone;
  const together = inside.reduce((bits, part) => bits | part.bits, 0n);
  return { ...parts, certain: parts.certain && together === whole.bits };
}

function setsInside(whole: PricedSet, sets: readonly PricedSet[]): PricedSet[] {
  return sets.filter(({ bits }) => bits !== whole.bits && isIn(bits, whole.bits));
}

/** The dearest first, each that has nothing in common with those before it: together they cost at least that. */
function sumOfDisjoint(
  sets: readonly (PricedSet & Pick<LateBill, 'bodies'>)[],
): Pick<LateBill, 'credits' | 'bodies'> {
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
