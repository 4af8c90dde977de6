import {
  deliveryKinds,
  lateKinds,
  lateKindsInDelivery,
  type DeliveryKind,
  type LateKind,
} from './delivery-kinds.ts';
import type { Credits } from '../money/decimal.ts';

/** A person of a call that expects late results. Ids and e-mails are hashes, which stay after an erasure. */
export interface ExpectedPerson {
  readonly key: string;
  /** Hashes of the person's e-mails in the answer, without shared mailboxes. */
  readonly emails: readonly string[];
}

/** A person in a delivery. Id and e-mails are hashed like those of `ExpectedPerson`. */
export interface DeliveredPersonHashes {
  readonly key: string | undefined;
  readonly emails: readonly string[];
  /** True if an answer has used this id for another person. */
  readonly isKnown: boolean;
}

/**
 * Decides which expected person each person of a delivery is, by id. Vendors of a waterfall may use other ids, so an
 * e-mail of only one expected person identifies too. If id and e-mail belong to two people, nobody is assigned.
 */
export function assignDeliveredPeople(
  expected: readonly ExpectedPerson[],
  people: readonly DeliveredPersonHashes[],
  kind: DeliveryKind,
): (string | undefined)[] {
  const byId = people.map(({ key }) => expected.find((person) => person.key === key)?.key);
  if (deliveryKinds[kind].keepsIds) return byId;
  const ownersOf = (email: string): string[] =>
    expected.flatMap((person) => (person.emails.includes(email) ? [person.key] : []));
  const byEmail = people.map(({ key, emails, isKnown }, index) => {
    const owners = new Set(emails.flatMap(ownersOf));
    return byId[index] !== undefined || (key !== undefined && isKnown) || owners.size !== 1
      ? undefined
      : [...owners][0];
  });
  return people.map(({ emails }, index) => {
    const own = byId[index];
    if (own !== undefined) {
      const owners = emails.map(ownersOf).filter((each) => each.length > 0);
      return owners.every((each) => each.includes(own)) ? own : undefined;
    }
    const owner = byEmail[index];
    return byId.includes(owner) || byEmail.indexOf(owner) !== byEmail.lastIndexOf(owner) ? undefined : owner;
  });
}

/** The late results that a delivery is about, as kind and person's key: `phone/3f2a…`. */
export interface DeliveredResults {
  /** Results that the delivery mentions, even if nothing was found for the person. */
  readonly covers: readonly string[];
  readonly brings: readonly string[];
}

/** A person of a delivery, with the key of the expected person. */
interface AssignedPerson {
  readonly key: string;
  readonly phones: readonly unknown[];
  readonly emails: readonly unknown[];
  /** Fields of the person that are in the delivery, even as empty lists. */
  readonly fields: readonly string[];
  /** True if results of the person are unreadable or will come later. Then only fields with values count as results. */
  readonly isPending: boolean;
}

interface DeliveredFields {
  readonly kind: DeliveryKind;
  readonly targetFields: readonly string[];
}

/**
 * The late results in a delivery. It can repeat results that another delivery bills, so only the fields for which it
 * was sent count, or all if it has none of them.
 */
export function resultsInDelivery(
  people: readonly AssignedPerson[],
  body: DeliveredFields,
): DeliveredResults {
  const targets = lateKindsOfFields(body);
  const named = people.map((person) => ({ person, kinds: coveredKinds(person, body) }));
  const isForTargets = named.some(({ kinds }) => kinds.some((kind) => targets.includes(kind)));
  const counted = named.flatMap(({ person, kinds }) =>
    kinds.flatMap((kind) => (isForTargets && !targets.includes(kind) ? [] : [{ person, kind }])),
  );
  const entries = (of: typeof counted): string[] => [
    ...new Set(of.map(({ person, kind }) => `${kind}/${person.key}`)),
  ];
  return {
    covers: entries(counted),
    brings: entries(counted.filter(({ person, kind }) => hasValues(person, kind))),
  };
}

/** The kinds that a delivery covers for a person: fields with values, and requested fields that are empty. */
function coveredKinds(person: Omit<AssignedPerson, 'key'>, body: DeliveredFields): LateKind[] {
  const targets = lateKindsOfFields(body);
  const stated =
    person.fields.length === 0 ? targets : lateKindsOfFields({ ...body, targetFields: person.fields });
  return stated.filter((kind) => hasValues(person, kind) || (targets.includes(kind) && !person.isPending));
}

/** True if the delivery has phones or e-mails, whichever the kind stands for, of this person. */
function hasValues(person: Omit<AssignedPerson, 'key'>, kind: LateKind): boolean {
  return person[lateKinds[kind].values].length > 0;
}

const fieldPatterns = { emails: /email/i, phones: /phone/i } as const;

/** The kinds of results that the fields of a delivery stand for; all kinds if no field is known. */
export function lateKindsOfFields({ kind: delivery, targetFields }: DeliveredFields): LateKind[] {
  const all = lateKindsInDelivery(delivery);
  const named = all.filter((kind) =>
    targetFields.some((field) => fieldPatterns[lateKinds[kind].values].test(field)),
  );
  return named.length === 0 ? all : named;
}

const emailRanks = ['verified', 'likely to engage', 'unverified', 'guessed', 'extrapolated'];

/** Rank of an e-mail that bounced, is unavailable, or has an unknown status. */
export const worstEmailRank = 9;

/**
 * Ranks an e-mail by its status, the best lowest; a missing status is unverified. A waterfall's e-mail replaces the
 * answer's if its rank is better, and not the worst.
 */
export function emailRank(status: string | null | undefined): number {
  const rank = emailRanks.indexOf((status ?? 'unverified').toLowerCase().replaceAll('_', ' '));
  return rank < 0 ? worstEmailRank : rank;
}

/** The results of a delivery with the price that the delivery states for them. */
export interface PricedResults extends DeliveredResults {
  /** Stated price; undefined if it is missing or unreadable. */
  readonly credits: Credits | undefined;
}

export interface LateBill {
  /** The total cost of the deliveries. If it is uncertain, the highest single price. */
  readonly credits: Credits;
  readonly certain: boolean;
  /** Number of deliveries that contribute a price to the total. */
  readonly deliveries: number;
}

/** Results that are billed together, as entries such as `phone/3f2a…`. */
interface PricedSet {
  readonly results: ReadonlySet<string>;
  readonly credits: Credits;
}

/** Maximum number of different deliveries for one call of ten people. More deliveries are an attack or a fault. */
const maxDeliveries = 200;

/**
 * Computes the cost of all deliveries of a call.
 *
 * - A price pays for the results with values; if there are none, for the search.
 * - Prices of different results are added. Equal results count once, with the highest price.
 * - A delivery of all results replaces deliveries of parts if it costs at least as much. Any other overlap, and results
 *   without a price, make the bill uncertain.
 */
export function totalLateBill(deliveries: readonly PricedResults[]): LateBill {
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
  // The price of a delivery with values may include a search, and another delivery may state the price of this search
  // alone.
  const areApart = priced.every(
    ({ covers, brings }) => brings.length === 0 || !covers.some((each) => searches.has(each)),
  );
  const billed = new Set(priced.flatMap(({ brings }) => brings));
  const hasPrices = deliveries.every(({ brings }) => brings.every((result) => billed.has(result)));
  const isSum = areApart && hasPrices && sets.size <= maxDeliveries;
  return isSum ? billOf([...sets.values()]) : uncertain([...sets.values()]);
}

/**
 * Adds up the prices of the sets that are in no other set. The bill is uncertain if such sets overlap, or if the parts
 * of one cost more than the whole.
 */
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

/** A bill with the highest single price, because the prices may be for the same results. */
function uncertain(sets: readonly PricedSet[]): LateBill {
  return { credits: max(...sets.map(({ credits }) => credits)), certain: false, deliveries: 1 };
}

/** True if all results of one set are in the other. */
function isIn(part: PricedSet, whole: PricedSet): boolean {
  return [...part.results].every((result) => whole.results.has(result));
}

function max(...credits: readonly Credits[]): Credits {
  return credits.reduce((most, each) => (each > most ? each : most), 0n);
}
